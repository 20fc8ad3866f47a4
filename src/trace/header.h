/*
 * header.h - the header of a trace, as text:
 *
 *     orrery trace 1
 *     ranks 64
 *     tick 1                        picoseconds per unit of time
 *     block 65536                   bytes after which a block ends
 *     sites                         if present: calls have their call site
 *     part                          a part: ranks may be added later, and are not counted yet
 *     clocks local                  parts: times are those of each rank's own clock (clocks.h)
 *     profile                       if present: statistics instead of calls (TRACE_PROFILE)
 *     property program ./app -n 3   any number of facts for people; a newline is written as \n,
 *                                   \ as \\
 *     functions
 *     MPI_Init
 *     MPI_Send count:count datatype:datatype peer:dest tag:tag comm:comm
 *     ...                           to the end of the text
 *
 * Readers skip lines that begin with other words: later versions may add them.
 */
#ifndef TRACE_HEADER_H
#define TRACE_HEADER_H

#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "trace/schema.h"

struct trace_property {
    char *key, *value;
};

struct trace_header {
    uint64_t ranks;
    uint64_t tick;
    uint64_t block;
    int has_sites;
    int is_profile;
    int is_part, has_local_clocks;
    struct trace_property *properties;
    size_t property_count;
    struct trace_schema *schema; /* owned */
};

/* Uses the schema of this version, a tick of 1 ps, and a size of blocks that suits the number of
 * ranks. */
void trace_header_init(struct trace_header *, uint64_t ranks);
/* Chooses the size of blocks again, for the present number of ranks. */
void trace_header_block(struct trace_header *);
void trace_header_fini(struct trace_header *);
void trace_header_add(struct trace_header *, const char *key, const char *value);
/* The value of a property, or NULL. */
const char *trace_header_get(const struct trace_header *, const char *key);

void trace_header_write(const struct trace_header *, struct buf *out);
int trace_header_read(struct trace_header *, const char *text, struct err *);

#endif
