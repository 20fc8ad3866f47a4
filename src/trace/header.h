/*
 * The header of a trace, as text:
 *
 *     orrery trace 1
 *     ranks 64
 *     tick 1                        picoseconds per unit of time
 *     block 65536                   bytes after which a block ends
 *     sites                         calls have their call site, if this line is there
 *     part                          a part: ranks may come later, and are not counted yet
 *     clocks local                  parts: times are those of each rank's own clock (clocks.h)
 *     profile                       no calls, only statistics of them (TRACE_PROFILE), if this line is there
 *     property program ./app -n 3   facts for people, as many as there are; a newline is written as \n, \ as \\
 *     functions
 *     MPI_Init
 *     MPI_Send count:count datatype:datatype peer:dest tag:tag comm:comm
 *     ...                           the rest of the text
 *
 * Lines that begin with other words are for later versions, and are skipped.
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

/* With the schema of this version, a tick of 1 ps, and the size of blocks that suits the number of ranks. */
void trace_header_init(struct trace_header *, uint64_t ranks);
/* The size of blocks again, for the number of ranks that it has now. */
void trace_header_block(struct trace_header *);
void trace_header_fini(struct trace_header *);
void trace_header_add(struct trace_header *, const char *key, const char *value);
/* The value of a property, or NULL. */
const char *trace_header_get(const struct trace_header *, const char *key);

void trace_header_write(const struct trace_header *, struct buf *out);
int trace_header_read(struct trace_header *, const char *text, struct err *);

#endif
