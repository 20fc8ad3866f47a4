/*
 * clocks.h - converts the times of computers whose clocks differ to one clock: that of rank 0.
 *
 * Parts of native runs contain the times of the computer they were recorded on (the header's line
 * "clocks local"). Definitions name the clock of each rank, and its difference from that of rank 0
 * at one or two times. Between two comparisons, and beyond them, the difference is linear: offset
 * and drift. With one comparison it is constant.
 */
#ifndef TRACE_CLOCKS_H
#define TRACE_CLOCKS_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/map.h"

/* The property of a trace that was recorded with several clocks. */
#define TRACE_CLOCKS_PROPERTY "clocks"

/* One comparison, in ticks. */
struct trace_clock_point {
    int64_t local;  /* time of the clock */
    int64_t offset; /* to be added to it */
    int64_t error;  /* upper bound, in both directions */
};

/* A clock and its comparisons. */
struct trace_clock {
    uint64_t identity;
    struct trace_clock_point first, last;
    int points; /* 0: it is that of rank 0, or was never compared */
};

struct trace_clocks {
    struct trace_clock *clocks;
    size_t count;
    struct map by_rank; /* number of its clock + 1 */
    int64_t origin;     /* the common time that becomes 0: the start of the first rank */
    struct {
        uint64_t rank, clock;
        int64_t began;
    } * ranks;
    size_t rank_count;
};

/* Payloads of the definitions. */
void trace_clock_point_write(struct buf *, uint64_t clock, const struct trace_clock_point *);
void trace_clock_rank_write(struct buf *, uint64_t rank, uint64_t clock, int64_t began);

void trace_clocks_init(struct trace_clocks *);
void trace_clocks_fini(struct trace_clocks *);
/* Reads a definition; ignores those of other kinds. */
void trace_clocks_take(struct trace_clocks *, unsigned kind, const uint8_t *payload, size_t bytes);
/* Finds the origin. Call it after all definitions were read. */
void trace_clocks_find_origin(struct trace_clocks *);
/* The largest error of a comparison; -1: there is only one clock. */
int64_t trace_clocks_error(const struct trace_clocks *);
/* The common time for a local time of a rank. It never decreases unless the local time does. */
int64_t trace_clocks_time(const struct trace_clocks *, uint64_t rank, int64_t local);

#endif
