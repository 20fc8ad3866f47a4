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

struct mpi_row {
    uint32_t src, dst;
    uint64_t messages, bytes;
};

/* The counters of all processes together. */
struct mpi_report {
    struct mpi_stats sum; /* its counters; matrix and rank_end are unused */
    struct mpi_row *rows; /* pairs, or pairs of groups if sum.aggregated, sorted */
    size_t row_count;
    uint32_t ranks;                    /* including spawned ranks */
    vtime *rank_end;                   /* last clock of each rank */
    struct mpi_call_list **rank_calls; /* calls of each rank, sorted; NULL: none */
};
void mpi_report_read(struct mpi_report *, const struct buf *parts);
void mpi_report_fini(struct mpi_report *);

/* Moves the first peers, counted in the ranks, into the matrix; once, when pairs are aggregated. */
void mpi_stats_fold_inline(void);

#endif
