/*
 * copy.h - copies a trace, or a part of it selected by ranks and time.
 */
#ifndef TRACE_COPY_H
#define TRACE_COPY_H

#include "trace/reader.h"

struct trace_cut {
    uint64_t first, last; /* ranks */
    int64_t from, to;     /* picoseconds; calls that overlap the interval are kept */
};

int trace_cut_keeps(const struct trace *, const struct trace_cut *, const struct trace_event *);

/* Appends a record as it was read. Both streams have the same schema. */
void trace_copy_event(struct trace_stream *, const struct trace_header *,
                      const struct trace_event *);

/* trace_copy_event for a record of which only the times have changed. Its cursor must not have
 * moved since. */
void trace_copy_unchanged(struct trace_stream *, const struct trace_header *,
                          const struct trace_event *);

/* Writes the selected part of a trace. Ranks keep their numbers; ranks that are not selected have
 * no records. */
int trace_copy(struct trace *, const struct trace_cut *, const char *path, struct err *);

#endif
