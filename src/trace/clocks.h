/*
 * clocks.h - times of machines whose clocks differ become those of one clock: that of rank 0.
 *
 * Parts of native runs have the times of the machine they were recorded on (the header's line
 * "clocks local"). Definitions say which clock each rank has, and how it compared with rank 0's at
 * one or two times. Between two comparisons, and beyond them, the difference is a straight line:
 * offset and drift. With one it is constant.
 */
#ifndef TRACE_CLOCKS_H
#define TRACE_CLOCKS_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/map.h"

/* The property of a trace of several clocks. */
#define TRACE_CLOCKS_PROPERTY "clocks"

/* One comparison, in ticks. */
struct trace_clock_point {
    int64_t local;  /* time of the clock */
    int64_t offset; /* what is to be added to it */
    int64_t error;  /* at most, either way */
};

/* A clock, and what is known of it. */
struct trace_clock {
    uint64_t identity;
    struct trace_clock_point first, last;
    int points; /* 0: it is rank 0's, or was never compared */
};

struct trace_clocks {
    struct trace_clock *clocks;
    size_t count;
    struct map by_rank; /* number of its clock + 1 */
    int64_t origin;     /* the common time that becomes 0: when the first rank began */
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
/* Takes a definition; those of other kinds are left alone. */
void trace_clocks_take(struct trace_clocks *, unsigned kind, const uint8_t *payload, size_t bytes);
/* All are there: finds the origin. */
void trace_clocks_settle(struct trace_clocks *);
/* By how much clocks may be off where they were compared; -1: there is but one. */
int64_t trace_clocks_error(const struct trace_clocks *);
/* The common time of a rank's local one. Does not decrease where the local one does not. */
int64_t trace_clocks_time(const struct trace_clocks *, uint64_t rank, int64_t local);

#endif
