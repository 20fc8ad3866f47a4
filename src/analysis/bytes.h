/*
 * bytes.h - the bytes that a call sends, derived from its arguments.
 */
#ifndef ANALYSIS_BYTES_H
#define ANALYSIS_BYTES_H

#include "analysis/calls.h"
#include "analysis/handles.h"

/* A message, or a one-sided operation. */
uint64_t bytes_of_message(const struct handles *, const struct call_shape *,
                          const struct trace_event *);

/* The bytes that a rank passes to a collective. With MPI_IN_PLACE that is its part of the receive
 * buffer, except at the root of a gather, which sends nothing. */
uint64_t bytes_of_collective(const struct handles_book *, const struct handles *,
                             const struct call_shape *, const struct trace_event *);

#endif
