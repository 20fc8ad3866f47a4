/*
 * stats_internal.h - shared by stats.c and stats_write.c.
 */
#ifndef MPI_STATS_INTERNAL_H
#define MPI_STATS_INTERNAL_H

#include "mpi/stats.h"

struct mpi_cell {
    uint64_t messages, bytes;
};

struct mpi_call {
    uint32_t fn, calls;
    vtime time;
};
struct mpi_call_list {
    uint32_t count;
    struct mpi_call at[];
};

/* Moves the first peers, counted in the ranks, into the matrix; once, when pairs are aggregated. */
void mpi_stats_fold_inline(void);

#endif
