/*
 * phases.h - phases between collectives: a row of times for each communicator of each rank. Rows
 * are bounded: when one exceeds its limit, the phases of that communicator are merged two by two,
 * on all ranks.
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
    uint32_t merged;     /* consecutive phases that are merged into one */
    uint16_t *functions; /* that end the phases of the first row */
    uint32_t function_count;
    /* of the current rank */
    struct phases_row row;
    size_t room;
    int64_t last;     /* end of the last collective */
    uint32_t pending; /* phases in the last item of the row; 0: it is complete */
    int is_open;      /* `last` is valid */
};

struct phases {
    struct phases_comm *comms; /* by number */
    size_t count;
    uint32_t *touched; /* communicators of the current rank */
    size_t touched_count;
    size_t row_most; /* items of a row */
    uint64_t left_out;
};

void phases_init(struct phases *, uint64_t ranks, size_t cells);
void phases_fini(struct phases *);
/* Adds a collective of this rank; the first one of a communicator only starts its first phase. */
void phases_collective(struct phases *, uint32_t comm, unsigned fn, int64_t enter, int64_t leave);
/* Ends the current rank. */
void phases_rank_end(struct phases *, uint32_t rank);
/* Moves all phases to the result; a tick has `second` seconds. */
void phases_result(struct phases *, const struct handles_book *, const struct trace_schema *,
                   double second, struct analysis *);

#endif
