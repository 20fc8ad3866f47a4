/*
 * text.h - records as text, one line each.
 */
#ifndef TRACE_TEXT_H
#define TRACE_TEXT_H

#include "base/buf.h"
#include "trace/local.h"

/* Times are rounded, or with `exact` in picoseconds: "[3] 1.5 ms + 20 us: MPI_Recv(count=100,
 * datatype=MPI_INT, source=ANY, ...) -> status={source 2, tag 5, 400 B}" */
void trace_text_event(struct buf *out, const struct trace *, const struct trace_local *,
                      uint64_t rank, int exact, const struct trace_event *);

/* What the handles of a rank mean, one line each: "[3] comm 2: rank 1 of 2: 1, 3". */
void trace_text_objects(struct buf *out, const struct trace *, const struct trace_local *,
                        uint64_t rank);

#endif
