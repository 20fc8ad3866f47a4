/*
 * bytes.h - the bytes that a call of a rank moves (calls/calls.h), with what the analysis knows of
 * its handles.
 */
#ifndef ANALYSIS_BYTES_H
#define ANALYSIS_BYTES_H

#include "analysis/handles.h"
#include "calls/calls.h"

/* Of the message that a call sends. */
uint64_t bytes_of_message(const struct handles *, const struct mpi_effect *,
                          const struct trace_event *);

/* What a rank passes to a collective. */
uint64_t bytes_of_collective(const struct handles_book *, const struct handles *,
                             const struct mpi_effect *, const struct trace_event *);

/* What a one-sided operation or an access to a file moves, in both directions. */
uint64_t bytes_of_access(const struct handles *, const struct mpi_effect *,
                         const struct trace_event *);

#endif
