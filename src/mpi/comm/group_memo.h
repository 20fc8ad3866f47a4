/*
 * group_memo.h - a cache of recent group operations and their results.
 *
 * All ranks of a program usually create the same groups. Each operation costs O(members), so P
 * ranks would pay O(P * P) for what one of them can compute: the first computes it, the others find
 * the result in O(arguments). Groups are immutable and their serial numbers unique, so nothing gets
 * stale.
 */
#ifndef MPI_COMM_GROUP_MEMO_H
#define MPI_COMM_GROUP_MEMO_H

#include "mpi/comm/comm.h"

enum group_memo_op {
    GROUP_MEMO_NONE = 0,
    GROUP_MEMO_UNION,
    GROUP_MEMO_INTERSECTION,
    GROUP_MEMO_DIFFERENCE,
    GROUP_MEMO_INCL,
    GROUP_MEMO_EXCL,
    GROUP_MEMO_RANGE_INCL,
    GROUP_MEMO_RANGE_EXCL,
    GROUP_MEMO_COMPARE, /* value: MPI_IDENT ... */
    GROUP_MEMO_SUBSET,  /* value: 0 or 1 */
};

struct group_memo_key {
    enum group_memo_op op;
    const struct mpi_group *a, *b; /* b may be NULL */
    uint32_t n;                    /* ints in args, borrowed */
    const int *args;
};

/* Returns 1 if the operation is cached: its result, with a ref for the caller, or its value. Either
 * of the last two may be NULL. */
int group_memo_find(const struct group_memo_key *, struct mpi_group **result, int *value);

/* Caches it; holds its own ref on result (may be NULL). Long argument lists are not cached. */
void group_memo_store(const struct group_memo_key *, struct mpi_group *result, int value);

#endif
