/* datatype.h - datatypes of the virtual MPI.
 * 
 * One table of datatypes serves all ranks of the process. Constructions are interned: the same
 * constructor with the same arguments yields the same object for every caller. An object counts
 * 
 *     refs      everything that keeps it alive: user handles, types built from it, pending requests
 *     handles   the part of refs that user programs hold (one per constructor call)
 * 
 * A handle is valid while `handles` > 0; the object lives while `refs` > 0. An object without
 * handles that is still referenced is found again by an equal construction and gets handles again.
 * 
 * Consequences of sharing, all harmless to correct programs: `committed` and the name belong to the
 * object, so a commit by one rank commits for all (a missing commit may go unnoticed), the last
 * writer of the name wins, and a handle freed too often by one rank is noticed only when no other
 * rank holds it. Attributes of a type must be kept per (rank, handle) by their owner.
 * 
 * Handles keep MPICH's values. Bits 31-30 tell the kind (01 builtin, 10 direct), bits 29-26 the
 * object class (3: datatype):
 * 
 *     0x4c00ssnn   predefined; ss: size in bytes, nn: index, unique
 *     0x8c000000 + 0..4   the predefined pair types that are structs
 *     0x8c000000 + i      derived, 5 <= i < 2^26
 * 
 * No function here switches ranks. All are O(1) unless stated otherwise. Single-threaded. */
#ifndef ORRERY_MPI_DATATYPE_H
#define ORRERY_MPI_DATATYPE_H

#include <stdbool.h>
#include <stdint.h>

#include "mpi/hollow.h"
#include "mpi_abi.h"

struct type_plan;

/* Fields are for reading; only src/mpi/datatype writes them. */
struct mpi_type {
    uint64_t size;       /* bytes of data in one item */
    int64_t extent;      /* distance between consecutive items; may be negative */
    int64_t lb;          /* lower bound; ub is lb + extent */
    int64_t true_lb;     /* lowest byte of data */
    int64_t true_extent; /* highest byte of data, plus one, less true_lb */
    uint8_t contig;      /* size == extent, lb == 0, dense and in order: `count` items are the
                            count * size bytes at the buffer itself */
    uint8_t committed;
    uint8_t builtin;
    uint8_t kind;       /* MPI_COMBINER_*; a predefined type is NAMED or F90_* */
    uint16_t align;     /* strictest alignment of a basic member, 0 if none */
    uint8_t name_owned; /* name is on the heap */
    MPI_Datatype elem;  /* the basic (or pair) type if made of one only, else 0 */
    MPI_Datatype handle;
    uint64_t refs;
    uint64_t handles;
    uint64_t nelems;              /* basic elements in one item; a pair counts as 2 */
    uint64_t sig;                 /* hash of the signature of one item */
    const struct type_plan *plan; /* compiled form, see plan.h */
    const char *name;             /* never NULL; "" for an unnamed type */
    /* The arguments of the constructor, as MPI_Type_get_contents_c gives them: those of a
     * large-count constructor are counts, and ints only where it takes ints. */
    MPI_Count nints, naints, ncounts, ntypes;
    const int *ints;
    const MPI_Aint *aints;
    const MPI_Count *counts;
    struct mpi_type *const *types; /* each held by one ref */
    uint64_t hash;                 /* interning: key hash and bucket chain */
    struct mpi_type *hash_next;
};

enum {
    MPI_TYPE_BUILTINS = 256, /* slots of predefined types, by the low byte of the handle */
    MPI_TYPE_PAIRS = 5,      /* pair types at the start of the direct handles */
};

#define MPI_TYPE_CLASS_MASK 0xfc000000u
#define MPI_TYPE_INDEX_MASK 0x03ffffffu
#define MPI_TYPE_CLASS_BUILTIN 0x4c000000u
#define MPI_TYPE_CLASS_DIRECT 0x8c000000u

/* The table: predefined types by low byte, and direct ones by index (NULL: free). */
extern struct mpi_type mpi_type_builtins[MPI_TYPE_BUILTINS];
extern struct mpi_type **mpi_type_slots;
extern uint32_t mpi_type_nslots;

/* The object of a handle (borrowed), or NULL if the handle is null, malformed or freed. */
static inline struct mpi_type *mpi_type_get(MPI_Datatype h)
{
    uint32_t bits = (uint32_t)h;
    if ((bits & MPI_TYPE_CLASS_MASK) == MPI_TYPE_CLASS_BUILTIN) {
        struct mpi_type *t = &mpi_type_builtins[bits & 0xff];
        return t->handle == h ? t : (struct mpi_type *)0;
    }
    uint32_t index = bits & MPI_TYPE_INDEX_MASK;
    if ((bits & MPI_TYPE_CLASS_MASK) != MPI_TYPE_CLASS_DIRECT || index >= mpi_type_nslots)
        return (struct mpi_type *)0;
    struct mpi_type *t = mpi_type_slots[index];
    return t && t->handles ? t : (struct mpi_type *)0;
}

/* Lifetime. ref/unref count uses inside the library (pending requests, windows, file views); they
 * do nothing to predefined types. Freeing a type may free the types it was built from. */
void mpi_type_ref(struct mpi_type *t);
void mpi_type_unref(struct mpi_type *t);

/* Turn one ref of the caller into a user handle and return it. The first handle of an object starts
 * uncommitted and unnamed. Predefined types just return their handle. */
MPI_Datatype mpi_type_publish(struct mpi_type *t);

/* Drop one user handle and its ref. The type must not be predefined and must have a handle. */
void mpi_type_retract(struct mpi_type *t);

/* From now on every construction creates a separate object: for programs that attach attributes to
 * types, since those of two equal types may differ. */
void mpi_type_stop_sharing(void);

/* Make the type usable for communication. */
void mpi_type_set_committed(struct mpi_type *t);

/* Constructors. On success they return MPI_SUCCESS and store a type with one ref for the caller
 * (mpi_type_publish turns it into a handle). On error they return MPI_ERR_COUNT (a size or bound
 * beyond 63 bits), MPI_ERR_ARG (a bad array) or MPI_ERR_RANK (no such process in a darray), and
 * leave *out alone. Counts and block lengths are not negative. Arguments are copied. `large` says
 * which form of the call it was, the one of ints or that of MPI_Count: the types are the same,
 * their contents are not. Bounds follow MPICH 4.0: see bounds.c. Cost: the argument lists. */
int mpi_type_make_contiguous(bool large, MPI_Count count, struct mpi_type *old,
                             struct mpi_type **out);
int mpi_type_make_vector(bool large, MPI_Count count, MPI_Count blocklength, MPI_Count stride,
                         struct mpi_type *old, struct mpi_type **out);
int mpi_type_make_hvector(bool large, MPI_Count count, MPI_Count blocklength, MPI_Count stride,
                          struct mpi_type *old, struct mpi_type **out);
int mpi_type_make_indexed(bool large, MPI_Count count, const MPI_Count *blocklengths,
                          const MPI_Count *displs, struct mpi_type *old, struct mpi_type **out);
int mpi_type_make_hindexed(bool large, MPI_Count count, const MPI_Count *blocklengths,
                           const MPI_Count *displs, struct mpi_type *old, struct mpi_type **out);
int mpi_type_make_indexed_block(bool large, MPI_Count count, MPI_Count blocklength,
                                const MPI_Count *displs, struct mpi_type *old,
                                struct mpi_type **out);
int mpi_type_make_hindexed_block(bool large, MPI_Count count, MPI_Count blocklength,
                                 const MPI_Count *displs, struct mpi_type *old,
                                 struct mpi_type **out);
int mpi_type_make_struct(bool large, MPI_Count count, const MPI_Count *blocklengths,
                         const MPI_Count *displs, struct mpi_type *const *types,
                         struct mpi_type **out);
int mpi_type_make_resized(bool large, struct mpi_type *old, MPI_Count lb, MPI_Count extent,
                          struct mpi_type **out);
/* order: MPI_ORDER_C or MPI_ORDER_FORTRAN. A subsize of 0 gives an empty type. */
int mpi_type_make_subarray(bool large, int ndims, const MPI_Count *sizes, const MPI_Count *subsizes,
                           const MPI_Count *starts, int order, struct mpi_type *old,
                           struct mpi_type **out);
/* The part of process `rank` of a distributed array; the lists hold ints. */
struct mpi_type_darray {
    int size, rank, ndims, order;
    const MPI_Count *gsizes;
    const MPI_Count *distribs, *dargs, *psizes;
};
int mpi_type_make_darray(bool large, const struct mpi_type_darray *a, struct mpi_type *old,
                         struct mpi_type **out);
/* The copy is committed if the original is. */
int mpi_type_make_dup(struct mpi_type *old, struct mpi_type **out);
/* The predefined type that MPI_Type_create_f90_* gives for these arguments (p is 0 for integers):
 * like `basic`, with its own handle. It is created once and never freed. */
int mpi_type_make_f90(int combiner, int p, int r, struct mpi_type *basic, struct mpi_type **out);

/* Is the data of a buffer hollow (hollow.h)? The buffer may be MPI_BOTTOM, with displacements that
 * are addresses. */
static inline int mpi_data_is_hollow(const void *buf, const struct mpi_type *t)
{
    return mpi_is_hollow(buf) ||
           (!t->contig && mpi_is_hollow((const void *)((uintptr_t)buf + (uintptr_t)t->true_lb)));
}

/* Data movement. The packed stream of `count` items is the data bytes in typemap order, count *
 * size of them. Buffers are MPI buffers: data of item i lies at buf + i * extent + displacement.
 * buf may be MPI_BOTTOM. Buffer and stream must not overlap. If either is hollow, nothing is moved,
 * but the value returned is the same. Cost: the bytes moved plus the blocks touched; the start of a
 * range is found in O(log blocks) per nesting level. Recursion goes as deep as the type is nested,
 * with small frames, and only mpi_type_copy allocates. */

/* Pack everything; returns count * size. */
uint64_t mpi_type_pack(const struct mpi_type *t, uint64_t count, const void *buf, void *out);

/* Unpack min(in_bytes, count * size) bytes, possibly ending inside an element; returns them. */
uint64_t mpi_type_unpack(const struct mpi_type *t, uint64_t count, void *buf, const void *in,
                         uint64_t in_bytes);

/* Pack bytes [skip, skip + n) of the stream, cut at its end; returns the bytes moved. */
uint64_t mpi_type_pack_range(const struct mpi_type *t, uint64_t count, const void *buf,
                             uint64_t skip, void *out, uint64_t n);

/* Unpack n bytes into position [skip, skip + n) of the stream, cut at its end; returns the bytes
 * moved. */
uint64_t mpi_type_unpack_range(const struct mpi_type *t, uint64_t count, void *buf, uint64_t skip,
                               const void *in, uint64_t n);

/* Copy between two typed buffers that do not overlap; moves as many bytes as the shorter one holds
 * and returns them. Goes through a bounded heap buffer only if neither side is contiguous. */
uint64_t mpi_type_copy(const void *src, uint64_t src_count, const struct mpi_type *src_type,
                       void *dst, uint64_t dst_count, const struct mpi_type *dst_type);

/* Basic elements in the first `bytes` bytes of a stream of items (an element that is cut does not
 * count), or MPI_UNDEFINED if the bytes do not fit: a cut element in a type made of one basic type
 * only, or bytes in an empty type. Cost: members of the struct types passed on the way. */
int64_t mpi_type_elements(const struct mpi_type *t, uint64_t bytes);

/* Bytes of the whole basic elements in the first `bytes` bytes of a stream. Same cost. */
uint64_t mpi_type_whole_bytes(const struct mpi_type *t, uint64_t bytes);

/* The inverse: bytes that the first n basic elements of a stream take. Same cost. */
uint64_t mpi_type_element_bytes(const struct mpi_type *t, uint64_t n);

/* Hash of the type signature of the first n basic elements of a stream of items: equal for equal
 * sequences of basic types, however constructed (pair types count as their two members). MPI_BYTE
 * and MPI_PACKED are separate basic types here. n is not part of the hash: to compare two hashes,
 * compare their n, too. Cost: log(n), and the members of the struct types passed on the way. */
uint64_t mpi_type_prefix_signature(const struct mpi_type *t, uint64_t n);

/* The type with which to send the packed stream of *count items: the same type if packing does not
 * change them, else MPI_PACKED, and *count becomes a number of bytes. */
struct mpi_type *mpi_type_of_packed(struct mpi_type *t, uint64_t *count);

/* Name of the type, never NULL; borrowed until the next rename or free. */
static inline const char *mpi_type_name(const struct mpi_type *t)
{
    return t->name;
}

/* Rename; copies the text, cut to MPI_MAX_OBJECT_NAME - 1 bytes. */
void mpi_type_rename(struct mpi_type *t, const char *name);

/* Byte count in a status, as MPICH lays it out: 63 bits over two fields, bit 0 of the second being
 * the cancelled flag. */
static inline uint64_t mpi_status_bytes(const MPI_Status *s)
{
    return ((uint64_t)((uint32_t)s->count_hi_and_cancelled >> 1) << 32) | (uint32_t)s->count_lo;
}

/* Store the byte count (below 2^63); the cancelled flag stays. */
static inline void mpi_status_set_bytes(MPI_Status *s, uint64_t bytes)
{
    uint32_t flag = (uint32_t)s->count_hi_and_cancelled & 1u;
    s->count_lo = (int)(uint32_t)bytes;
    s->count_hi_and_cancelled = (int)(((uint32_t)(bytes >> 32) << 1) | flag);
}

#endif
