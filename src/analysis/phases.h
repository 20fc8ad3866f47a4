/*
 * Phases of collectives: a row of times for each communicator of each rank. Rows are bounded: when
 * one grows beyond its room, phases of that communicator are put together two by two, at all ranks.
 */
#ifndef ANALYSIS_PHASES_H
#define ANALYSIS_PHASES_H

#include "analysis/analysis.h"
#include "analysis/handles.h"

struct phases_row {
    uint32_t rank;
    uint32_t count;
    double *times; /* in ticks */
};

struct phases_comm {
    struct phases_row *rows;
    size_t row_count;
    uint32_t merged;     /* phases in a row that are one */
    uint16_t *functions; /* that end the phases of the first row */
    uint32_t function_count;
    /* of the rank that is read */
    struct phases_row row;
    size_t room;
    int64_t last;     /* end of the last collective */
    uint32_t pending; /* phases in the last item of the row; 0: it is complete */
    int is_open;      /* `last` counts */
};

struct phases {
    struct phases_comm *comms; /* by number */
    size_t count;
    uint32_t *touched; /* communicators of the rank that is read */
    size_t touched_count;
    size_t row_most; /* items of a row */
    uint64_t left_out;
};

void phases_init(struct phases *, uint64_t ranks, size_t cells);
void phases_fini(struct phases *);
/* A collective of this rank; the first of a communicator only begins its first phase. */
void phases_collective(struct phases *, uint32_t comm, unsigned fn, int64_t enter, int64_t leave);
/* The rank has been read. */
void phases_rank_end(struct phases *, uint32_t rank);
/* Moves them to the result; `second` is that of a tick. */
void phases_result(struct phases *, const struct handles_book *, const struct trace_schema *,
                   double second, struct analysis *);

#endif
