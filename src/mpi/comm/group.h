/*
 * group.h - groups of ranks.
 *
 * They are process-wide objects, shared by all ranks that hold them. A group is a range with a
 * stride where possible, else a list; identical groups are one object. Nothing is O(size) per rank.
 * Nothing here switches.
 */
#ifndef MPI_COMM_GROUP_H
#define MPI_COMM_GROUP_H

#include <stdint.h>

#include "mpi/rank.h"
#include "mpi_abi.h"

enum mpi_group_kind {
    MPI_GROUP_RANGE = 0,
    MPI_GROUP_LIST,
    MPI_GROUP_SELF, /* of MPI_COMM_SELF only: the calling rank */
};

/* State that a higher subfolder keeps with a group: the first member of its own struct. */
struct mpi_group_extra {
    void (*drop)(struct mpi_group_extra *); /* the group goes */
};

struct mpi_group {
    uint32_t size;
    uint32_t refs;
    uint8_t kind;          /* enum mpi_group_kind */
    int64_t first, stride; /* MPI_GROUP_RANGE: world rank of member i = first + i*stride */
    uint32_t *list;        /* world ranks, in group order */
    struct map *inverse;   /* world rank -> group rank, built when first needed */
    /* Which ranks share nodes, computed when first needed (coll/coll_nodes.c) */
    struct mpi_group_extra *nodes;
    uint32_t index;   /* handle index */
    uint32_t handles; /* part of refs that user programs hold; the handle is valid while > 0 */
    uint64_t hash;
    uint64_t serial; /* never used twice */
    struct mpi_group *hash_next;
};

static inline uint32_t mpi_group_world_rank(const struct mpi_group *g, uint32_t r)
{
    if (__builtin_expect(g->kind == MPI_GROUP_RANGE, 1))
        return (uint32_t)(g->first + (int64_t)r * g->stride);
    return g->kind == MPI_GROUP_LIST ? g->list[r] : mpi_rank_id(mpi_self());
}
/* Group rank of a world rank, or MPI_UNDEFINED. O(1) amortised. */
int mpi_group_rank_of(struct mpi_group *g, uint32_t world);

/* Members of the group in this process. */
uint32_t mpi_group_members_here(const struct mpi_group *);

/* ---- objects (group.c) ---- */

/* All return an interned group with one ref for the caller. */
struct mpi_group *mpi_group_make_range(int64_t first, int64_t stride, uint32_t size);
/* From distinct world ranks in heap memory (mem_alloc), of which it takes ownership. O(n). */
struct mpi_group *mpi_group_make_list(uint32_t *ranks, uint32_t n);

struct mpi_group *mpi_group_ref(struct mpi_group *);
void mpi_group_unref(struct mpi_group *);

/* Turns a ref into a user handle; the object of a valid handle (borrowed) or NULL; drops one. */
MPI_Group mpi_group_publish(struct mpi_group *);
struct mpi_group *mpi_group_get(MPI_Group);
void mpi_group_retract(struct mpi_group *);

/* A group in a message: a fixed part, and a list of world ranks that may be empty. */
struct mpi_group_wire {
    int64_t first, stride; /* of a range */
    uint32_t size, kind;   /* enum mpi_group_kind */
};
struct mpi_group_wire mpi_group_to_wire(const struct mpi_group *);
/* Entries of the list that follows; it is g->list of the sender. */
static inline uint32_t mpi_group_wire_list(const struct mpi_group_wire *w)
{
    return w->kind == MPI_GROUP_LIST ? w->size : 0;
}
/* The group, with a ref for the caller. The list is copied. */
struct mpi_group *mpi_group_from_wire(const struct mpi_group_wire *, const void *list);

/* ---- set algebra (group_ops.c) ---- */

/* In the order MPI prescribes; results have a ref for the caller. O(members). */
struct mpi_group *mpi_gset_union(struct mpi_group *a, struct mpi_group *b);
struct mpi_group *mpi_gset_intersection(struct mpi_group *a, struct mpi_group *b);
struct mpi_group *mpi_gset_difference(struct mpi_group *a, struct mpi_group *b);
/* Members `ranks` of g in that order; NULL if one is twice in the list or not in g (*bad). */
struct mpi_group *mpi_gset_pick(struct mpi_group *g, uint32_t n, const int *ranks, int *bad);
/* g without them; twice is allowed. */
struct mpi_group *mpi_gset_omit(struct mpi_group *g, uint32_t n, const int *ranks, int *bad);
/* Are all members of a in b? */
int mpi_gset_subset(struct mpi_group *a, struct mpi_group *b);
/* MPI_IDENT, MPI_SIMILAR or MPI_UNEQUAL. */
int mpi_gset_compare(struct mpi_group *a, struct mpi_group *b);

#endif
