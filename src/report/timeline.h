/*
 * timeline.h - a trace as the front end draws it: as an overview (grid.h) and in detail
 * (call_blocks.h).
 */
#ifndef REPORT_TIMELINE_H
#define REPORT_TIMELINE_H

#include "base/json.h"
#include "trace/reader.h"
#include "report/chunk.h"
#include "report/grid.h"
#include "report/kind.h"

/* Traces with fewer calls are always drawn in detail, and need no grid. */
#define TIMELINE_GRID_FROM 200000

struct timeline {
    struct trace *trace;
    int64_t begin, end; /* ticks: the first call, and the end of the last */
    int64_t unit;       /* ticks */
    uint64_t calls;     /* in all */
    unsigned *number; /* by function of the trace: its number in the report + 1; 0: never called */
    unsigned *function; /* by number: function of the trace */
    unsigned function_count;
    /* [ranks][REPORT_KINDS]: seconds; compute is the rest of the time until its last call
     * ended. */
    double *kinds;
    double *from, *to; /* [ranks]: its first call, and the end of its last, in seconds */
};

/* Reads the whole trace once. Skips damaged blocks. */
void timeline_init(struct timeline *, struct trace *);
void timeline_fini(struct timeline *);

/* Reads the trace, and makes the grid of the time up to `end` ticks. Free it with grid_fini. */
void timeline_grid(struct timeline *, int64_t end, uint64_t cells, struct grid *);

/* Writes the members "unit", "end", "grids" and "calls" of an open object. Reads the trace again,
 * once or a few times, until the calls fit into `most` bytes of the page. A level of the grid has
 * up to `cells` cells. */
void timeline_write(struct timeline *, size_t most, uint64_t cells, struct chunks *, struct json *);

#endif
