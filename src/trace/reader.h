/*
 * A trace to read: a complete file, one that was cut off, or a part of one.
 *
 *     struct trace t;
 *     if (trace_open(&t, path, &err) != 0) ...
 *     trace_cursor_open(&c, &t, rank, 0, TRACE_RECORDS);
 *     while ((more = trace_cursor_next(&c, &event, &err)) > 0) ...
 *
 * Memory: the index (some 40 bytes per block), and of every cursor that is open one frame, which
 * neighbours share. A damaged frame is left out: `missing` says so, and what was lost. Not for
 * several threads: each opens its own.
 */
#ifndef TRACE_READER_H
#define TRACE_READER_H

#include "trace/decode.h"
#include "trace/definitions.h"
#include "trace/file.h"
#include "trace/header.h"

/* Where a piece is. */
struct trace_place {
    uint32_t rank;
    uint16_t thread;
    uint16_t flags;     /* enum trace_piece_flag */
    uint32_t frame;     /* number in frames */
    uint32_t at, bytes; /* within the frame's payload */
    uint32_t records;
    int64_t base;
};

/* A frame, loaded while somebody reads in it. */
struct trace_loaded {
    uint64_t offset;
    uint8_t *memory; /* NULL: it is not loaded, or is read in the file itself */
    const uint8_t *payload;
    uint32_t bytes; /* of the payload */
    uint32_t users;
    uint8_t is_bad;
};

struct trace {
    struct trace_file file;
    struct trace_header header;
    struct trace_definitions definitions;
    struct trace_loaded *frames;
    size_t frame_count;
    /* In order of rank, thread, definitions first; then as in the file. */
    struct trace_place *places;
    size_t place_count;
    size_t last; /* number of a frame that is loaded though nobody reads in it, + 1 */
    uint64_t records;
    int is_complete;
    struct err missing; /* code 0: nothing is */
};

enum trace_what {
    TRACE_RECORDS,
    TRACE_LOCAL_DEFINITIONS,
};

int trace_open(struct trace *, const char *path, struct err *);
void trace_close(struct trace *);

/* The number of threads that a rank has records of: 1 more than the highest. */
unsigned trace_threads(const struct trace *, uint64_t rank);

struct trace_cursor {
    struct trace *trace;
    struct trace_decoder decoder;
    size_t next, end; /* places still to read */
    size_t frame;     /* in use, + 1 */
};

void trace_cursor_open(struct trace_cursor *, struct trace *, uint64_t rank, unsigned thread,
                       enum trace_what);
void trace_cursor_close(struct trace_cursor *);
/* 1: the next record; 0: no more; ERR_INPUT: damaged, but one may go on with the next block. */
int trace_cursor_next(struct trace_cursor *, struct trace_event *, struct err *);

/* Loads a frame, for who copies pieces; NULL if it is damaged. Give it back with trace_release. */
const uint8_t *trace_acquire(struct trace *, size_t frame);
void trace_release(struct trace *, size_t frame);

#endif
