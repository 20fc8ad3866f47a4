/*
 * chunk.h - the binary parts of a report. A chunk is a sequence of bytes, compressed (deflate) and
 * written in base64 to an element of the page that no browser runs:
 *
 *     <script type="application/octet-stream" id="chunk-7">...</script>
 *
 * The JSON that contains its number defines its contents (web/README.md).
 */
#ifndef REPORT_CHUNK_H
#define REPORT_CHUNK_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

struct chunks {
    struct buf text; /* the elements so far */
    unsigned count;
};

void chunks_init(struct chunks *);
void chunks_fini(struct chunks *);

/* Adds a chunk; returns its number. */
unsigned chunks_add(struct chunks *, const void *data, size_t bytes);
/* Values as little-endian 32-bit floats. */
unsigned chunks_add_floats(struct chunks *, const double *values, size_t count);

/* Removes what was added since `mark`, an earlier state. */
struct chunks_mark {
    size_t length;
    unsigned count;
};
struct chunks_mark chunks_mark(const struct chunks *);
void chunks_revert(struct chunks *, struct chunks_mark mark);

#endif
