/*
 * writer.h - writes a complete trace, block by block. The file gets its name only when it is
 * complete.
 */
#ifndef TRACE_WRITER_H
#define TRACE_WRITER_H

#include "trace/file.h"
#include "trace/header.h"
#include "trace/stream.h"

/* Blocks are added in order of rank, thread, kind (definitions first). */
struct trace_writer {
    struct trace_out out;
    size_t block;
    struct buf heads, body, index;
    struct buf frame; /* the last one, for its memory */
    uint64_t pieces, frames, records;
};

int trace_writer_open(struct trace_writer *, const char *path, const struct trace_header *,
                      struct err *);
/* Writes the definitions that ranks share (definitions.h), sorted by the caller; before the first
 * block. */
int trace_writer_definitions(struct trace_writer *, const struct buf *, struct err *);
/* Writes a whole block. */
int trace_writer_block(struct trace_writer *, const struct trace_piece *, struct err *);
/* Completes the file, or with `keep` 0 removes it. */
int trace_writer_close(struct trace_writer *, int keep, struct err *);

/* A sink that passes streams directly to a writer: one stream at a time, in the order of the file,
 * never spilled. */
struct trace_writer_sink {
    struct trace_sink sink;
    struct trace_writer *writer;
    struct err err; /* the first failure; code 0: none */
};

void trace_writer_sink_init(struct trace_writer_sink *, struct trace_writer *);

#endif
