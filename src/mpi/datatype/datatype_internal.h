/* datatype_internal.h - shared within src/mpi/datatype: interning, bounds, signatures. Nothing here
 * switches. */
#ifndef ORRERY_MPI_DATATYPE_INTERNAL_H
#define ORRERY_MPI_DATATYPE_INTERNAL_H

#include <stdbool.h>

#include "mpi/datatype/datatype.h"
#include "mpi/datatype/plan.h"

/* Wide enough for any sum of products of arguments; checked once, at the end. */
typedef __int128 type_wide;

/* A product, cut to +-2^120 so that a few of them add up; beyond 63 bits it is refused anyway. */
type_wide type_mul(type_wide a, type_wide b);

/* The arguments of a constructor, which identify a type. Up to TYPE_KEY_LISTS lists of arguments,
 * each kept as ints, addresses or counts; within each of the three in the order of
 * MPI_Type_get_contents. All borrowed. */
enum type_list_kind { TYPE_LIST_INTS, TYPE_LIST_AINTS, TYPE_LIST_COUNTS, TYPE_LIST_KINDS };
enum { TYPE_KEY_LISTS = 6 };

struct type_list {
    enum type_list_kind kind;
    MPI_Count n;
    const MPI_Count *at;
};

struct type_key {
    int kind;
    int nlists;
    MPI_Count ntypes;
    struct mpi_type *const *types;
    struct type_list list[TYPE_KEY_LISTS];
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
void bounds_of_struct(struct type_bounds *b, MPI_Count count, const MPI_Count *blocklengths,
                      const MPI_Count *displs, struct mpi_type *const *types, uint16_t align);

/* Store the bounds in the type. */
void bounds_store(const struct type_bounds *b, struct mpi_type *t);

/* Whether all bounds and their differences, and `size`, fit in 63 bits. */
bool bounds_fit(const struct type_bounds *b, type_wide size);

/* make.c: shared by all constructors. */

/* The properties of a new type, besides its key and its plan. */
struct type_draft {
    type_wide size;
    struct type_bounds bounds;
    uint16_t align;
    MPI_Datatype elem;
    uint64_t nelems, sig;
};

/* A draft of `items` items of `old`, without bounds. */
struct type_draft draft_repeat(const struct mpi_type *old, type_wide items);

/* Whether it all fits in 63 bits. */
bool draft_fits(const struct type_draft *d);

/* A ref to the type of this key, if it exists. */
bool draft_reuse(const struct type_key *key, struct mpi_type **out);

/* Enter the new type and return an MPI error class. The plan, unless it is the first old type's, is
 * then owned by the type. */
int draft_finish(const struct type_key *key, const struct type_draft *d,
                 const struct type_plan *plan, struct mpi_type **out);

/* Block length of member i of a struct. */
static inline uint64_t type_block_length(const struct mpi_type *t, MPI_Count i)
{
    return t->ncounts ? (uint64_t)t->counts[1 + i] : (uint64_t)t->ints[1 + i];
}

/* Bytes of the first member of a predefined pair; the whole for other predefined types. */
uint64_t type_first_member(const struct mpi_type *t);

/* elements.c: signatures are polynomial hashes modulo TYPE_SIG_MOD; those of parts add up. */
#define TYPE_SIG_MOD ((UINT64_C(1) << 61) - 1)
#define TYPE_SIG_BASE UINT64_C(0x1ae5c3b2f4d79681)

/* The hash of two elements; a constant expression. */
#define TYPE_SIG_PAIR(a, b) \
    ((uint64_t)(((unsigned __int128)(a)*TYPE_SIG_BASE + (uint64_t)(b)) % TYPE_SIG_MOD))

/* Signature of `a` followed by `b`, which has `b_elems` elements. */
uint64_t sig_concat(uint64_t a, uint64_t b, uint64_t b_elems);

/* Signature of `n` times `sig`, which has `elems` elements. */
uint64_t sig_repeat(uint64_t sig, uint64_t elems, uint64_t n);

#endif
