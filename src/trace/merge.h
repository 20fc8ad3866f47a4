/*
 * From parts to a trace (format.h). The result depends on what was recorded alone, not on how many
 * processes recorded it or when they wrote. Memory: some 40 bytes per piece, and a frame. The file
 * appears when it is complete.
 */
#ifndef TRACE_MERGE_H
#define TRACE_MERGE_H

#include "base/err.h"
#include "trace/reader.h"

/* What a part lacks, because it was cut off or its disk was full, is left out and named in
 * `missing` (code 0: nothing). Parts that have no header are left out, too; if none has one, that
 * is an error. */
int trace_merge(const char *const *parts, size_t count, const char *path, struct err *missing,
                struct err *);

/* Recorders know addresses, not names: in parts a call site or the name of a region may be
 * "@/path/of/file+0x1234", a site several of them, the innermost first. Appends names in their
 * place. */
struct trace_namer {
    void (*name)(struct trace_namer *, const char *addresses, int is_site, struct buf *out);
};

/* The same, with names for addresses. */
int trace_merge_named(const char *const *parts, size_t count, const char *path,
                      struct trace_namer *, struct err *missing, struct err *);

#endif
