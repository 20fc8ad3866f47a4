/*
 * coll_select.h - tables that choose the algorithm of a call. Not included outside this folder.
 *
 * A selector has a list of steps for each operation. The first step whose conditions hold is taken:
 * fewer ranks than ranks_below, fewer bytes than bytes_below, and the conditions in `when`. All of
 * these are equal on all ranks of a call, so all choose the same. The last step of a list has no
 * conditions.
 *
 * A step whose algorithm does not work for the call (COLL_NEED_*) is replaced by the result of the
 * selector's `otherwise`, if it has one, and skipped otherwise.
 */
#ifndef MPI_COLL_SELECT_H
#define MPI_COLL_SELECT_H

#include "mpi/coll/coll_internal.h"

#define COLL_ID(operation, name, needs) COLL_ID_##operation##_##name,
enum coll_id { MPI_COLL_ALGORITHMS(COLL_ID) COLL_ID_COUNT };
#undef COLL_ID

enum coll_when {
    COLL_IF_POW2 = 1,    /* a power of two of ranks */
    COLL_IF_COMMUTE = 2, /* the operation commutes */
    COLL_IF_ORDERED = 4, /* it does not */
    COLL_IF_CUT =
        8, /* it is predefined, with an item for each of the largest power of two of ranks */
    COLL_IF_REGULAR = 16, /* reduce_scatter: all blocks have the same length */
    COLL_IF_NODES = 32,   /* ranks share nodes */
};

#define COLL_ANY UINT32_MAX
#define COLL_ANY_BYTES UINT64_MAX

struct coll_step {
    uint32_t ranks_below;
    uint64_t bytes_below;
    uint8_t id;   /* enum coll_id */
    uint8_t when; /* enum coll_when, or'ed */
};

/* How to measure the bytes of a call. */
enum coll_measure {
    COLL_BLOCK = 0, /* the block of one rank (its average, with a length for each); the message */
    COLL_TOTAL,     /* the blocks of all ranks */
};

struct coll_selector {
    const char *name;
    struct {
        const struct coll_step *step;
        uint8_t measure; /* enum coll_measure */
    } of[MPI_COLL_exscan + 1];
    enum coll_id (*otherwise)(enum coll_id); /* or NULL */
};

extern const struct coll_selector coll_select_mpich, coll_select_openmpi, coll_select_model;

/* The bytes of a call; 0 where ranks know only their own (alltoallv, gatherv ...). O(size) for
 * allgatherv and reduce_scatter. */
uint64_t coll_bytes(const struct mpi_coll_args *a, enum coll_measure measure);

#endif
