/*
 * merge.h - merges parts into a trace (format.h). The result depends only on what was recorded, not
 * on how many processes recorded it or when they wrote. Memory: about 40 bytes per piece, and a
 * frame. The file gets its name only when it is complete.
 */
#ifndef TRACE_MERGE_H
#define TRACE_MERGE_H

#include "base/err.h"
#include "trace/reader.h"

/* If a part was cut off or its disk was full, the rest of it is missing from the trace, and
 * `missing` says so (code 0: nothing is). Parts without a header are skipped, too; it is an error
 * if none has one. */
int trace_merge(const char *const *parts, size_t count, const char *path, struct err *missing,
                struct err *);

/* Recorders know addresses, not names: in parts a call site or the name of a region may be
 * "@/path/of/file+0x1234", or for a site several of these, the innermost first. A namer appends
 * names for them. */
struct trace_namer {
    void (*name)(struct trace_namer *, const char *addresses, int is_site, struct buf *out);
};

/* Watches a merge, which may take long. */
struct trace_merge_watch {
    /* Called often, with the pieces that were merged and their number; not 0: the merge is to end,
     * without a trace. */
    int (*is_over)(struct trace_merge_watch *, uint64_t done, uint64_t all);
};

/* trace_merge that replaces addresses by names, and that can be watched; both may be NULL. */
int trace_merge_named(const char *const *parts, size_t count, const char *path,
                      struct trace_namer *, struct trace_merge_watch *, struct err *missing,
                      struct err *);

#endif
