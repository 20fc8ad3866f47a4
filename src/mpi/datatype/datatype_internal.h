/* Inside src/mpi/datatype: interning, bounds, signatures. Nothing here switches. */
#ifndef ORRERY_MPI_DATATYPE_INTERNAL_H
#define ORRERY_MPI_DATATYPE_INTERNAL_H

#include <stdbool.h>

#include "mpi/datatype/datatype.h"
#include "mpi/datatype/plan.h"

/* Wide enough for any sum of products of arguments; checked once, at the end. */
typedef __int128 type_wide;

/* What a constructor was called with; the identity of a type. The integers are the concatenation
 * of up to TYPE_KEY_LISTS lists, in the order of MPI_Type_get_contents. All borrowed. */
enum { TYPE_KEY_LISTS = 5 };

struct type_key {
    int kind;
    int nints, naints, ntypes;
    int list_len[TYPE_KEY_LISTS];
    const int *list[TYPE_KEY_LISTS];
    const MPI_Aint *aints;
    struct mpi_type *const *types;
};

/* table.c: handles and interning. */

/* The type with this key (borrowed), or NULL. Cost: the length of the key. */
struct mpi_type *table_find(const struct type_key *key);

/* A new type with this key and one ref, in the table, with a handle value; all fields that the key
 * does not determine are zero. Takes a ref on each of the key's types. NULL if the table is full.
 */
struct mpi_type *table_add(const struct type_key *key);

/* bounds.c: extents as MPICH 4.0 computes them. */
struct type_bounds {
    type_wide lb, ub, true_lb, true_ub;
    bool any;
};

/* Widen the bounds by `blocklength` items of `old` at `disp`. */
void bounds_add_block(struct type_bounds *b, const struct mpi_type *old, type_wide disp,
                      int64_t blocklength);

/* Bounds of a struct, with explicit markers and alignment padding. */
void bounds_of_struct(struct type_bounds *b, int count, const int *blocklengths,
                      const MPI_Aint *displs, struct mpi_type *const *types, uint16_t align);

/* Store the bounds in the type. */
void bounds_store(const struct type_bounds *b, struct mpi_type *t);

/* Whether all bounds and their differences, and `size`, fit in 63 bits. */
bool bounds_fit(const struct type_bounds *b, type_wide size);

/* elements.c: signatures are polynomial hashes modulo TYPE_SIG_MOD; those of parts add up. */
#define TYPE_SIG_MOD ((UINT64_C(1) << 61) - 1)
#define TYPE_SIG_BASE UINT64_C(0x1ae5c3b2f4d79681)

/* The hash of two elements; a constant expression. */
#define TYPE_SIG_PAIR(a, b)                                                                        \
    ((uint64_t)(((unsigned __int128)(a) * TYPE_SIG_BASE + (uint64_t)(b)) % TYPE_SIG_MOD))

/* Signature of `a` followed by `b`, which has `b_elems` elements. */
uint64_t sig_concat(uint64_t a, uint64_t b, uint64_t b_elems);

/* Signature of `n` times `sig`, which has `elems` elements. */
uint64_t sig_repeat(uint64_t sig, uint64_t elems, uint64_t n);

#endif
