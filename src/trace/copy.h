/*
 * Copies of traces: all of one, or a part of it by ranks and time.
 */
#ifndef TRACE_COPY_H
#define TRACE_COPY_H

#include "trace/reader.h"

struct trace_cut {
    uint64_t first, last; /* ranks */
    int64_t from, to;     /* picoseconds; calls that overlap are kept, also in part */
};

int trace_cut_keeps(const struct trace *, const struct trace_cut *, const struct trace_event *);

/* Appends a record as it was read, of a stream with the same schema. */
void trace_copy_event(struct trace_stream *, const struct trace_header *,
                      const struct trace_event *);

/* Writes what is left of a trace after a cut. Ranks keep their numbers; those that are left out
 * have no records. */
int trace_copy(struct trace *, const struct trace_cut *, const char *path, struct err *);

#endif
