/*
 * call_blocks.h - the timeline in detail: every call, in blocks that the page loads on demand.
 *
 * Times are counted in units of the timeline. Calls of a thread that begin and end within the same
 * unit become one, with the function that took most of their time: so the unit determines the size
 * of all blocks.
 *
 *     block      varint number of runs; the runs; then four columns of varints, each after a varint
 *                with its number of bytes
 *     run        consecutive calls of a thread of a rank: varint rank, thread, calls
 *     columns    time since the end of the call before it in the run (for the first: since 0);
 *                duration; 2 x function, + 1 if it stands for several calls; the number of those
 */
#ifndef REPORT_CALLS_H
#define REPORT_CALLS_H

#include <stdint.h>

#include "base/json.h"
#include "report/chunk.h"

#define CALLS_BLOCK 32768 /* calls of a block, or a few more */

enum calls_column { CALLS_GAP, CALLS_DURATION, CALLS_FUNCTION, CALLS_NUMBER, CALLS_COLUMNS };

struct calls {
    struct chunks *chunks;
    struct calls_block {
        unsigned chunk;
        uint64_t first, last, calls; /* ranks, and how many calls */
        int64_t from, to;            /* units */
    } * blocks, open;
    size_t count;
    int64_t unit;  /* in ticks of the trace */
    uint64_t kept; /* calls written */
    struct buf runs, columns[CALLS_COLUMNS];
    uint64_t run_count;               /* of the open block */
    uint64_t rank, thread, run_calls; /* of the open run */
    int64_t end;                      /* end of its last call, in units */
    struct {                          /* the call to be written next */
        int64_t from, to, longest;    /* ticks; of its parts */
        uint64_t count;               /* the number of calls that it stands for; 0: there is none */
        unsigned fn;
    } next;
};

void calls_init(struct calls *, struct chunks *, int64_t unit);
void calls_fini(struct calls *);

/* The next calls belong to this thread of this rank. */
void calls_begin(struct calls *, uint64_t rank, uint64_t thread);
/* Adds a call, in ticks; in order of time. */
void calls_add(struct calls *, unsigned fn, int64_t enter, int64_t leave);
/* Writes the last chunk. */
void calls_end(struct calls *);
/* Writes an array with the positions of the blocks. */
void calls_write(const struct calls *, struct json *);

#endif
