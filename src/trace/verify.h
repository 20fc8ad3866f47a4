/*
 * Whether a trace is what it should be: whole, in order, and complete in itself.
 */
#ifndef TRACE_VERIFY_H
#define TRACE_VERIFY_H

#include "base/buf.h"
#include "trace/reader.h"

/* Reads everything. Appends one line to `out` for each kind of fault, with its first occurrence;
 * the number of faults. */
uint64_t trace_verify(struct trace *, struct buf *out);

#endif
