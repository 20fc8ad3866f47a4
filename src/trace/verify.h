/*
 * verify.h - checks a trace: whether it is undamaged, in order, and complete.
 */
#ifndef TRACE_VERIFY_H
#define TRACE_VERIFY_H

#include "base/buf.h"
#include "trace/reader.h"

/* Reads everything. Appends one line to `out` for each kind of fault, with its first occurrence.
 * Returns the number of faults. */
uint64_t trace_verify(struct trace *, struct buf *out);

#endif
