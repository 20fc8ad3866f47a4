/*
 * How many bytes a call sends, by its arguments.
 */
#ifndef ANALYSIS_BYTES_H
#define ANALYSIS_BYTES_H

#include "analysis/calls.h"
#include "analysis/handles.h"

/* A message, or a one-sided operation. */
uint64_t bytes_of_message(const struct handles *, const struct call_shape *,
                          const struct trace_event *);

/* What a rank gives to a collective. With MPI_IN_PLACE its part of what it receives is meant, but
 * at the root of a gather, which gives nothing to others. */
uint64_t bytes_of_collective(const struct handles_book *, const struct handles *,
                             const struct call_shape *, const struct trace_event *);

#endif
