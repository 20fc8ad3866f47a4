/*
 * reader.h - reads a trace: a complete file, one that was cut off, or a part.
 *
 *     struct trace t;
 *     if (trace_open(&t, path, &err) != 0) ...
 *     trace_cursor_open(&c, &t, rank, 0, TRACE_RECORDS);
 *     while ((more = trace_cursor_next(&c, &event, &err)) > 0) ...
 *
 * Memory: the index (about 40 bytes per block), and one frame for every open cursor, which cursors
 * on the same frame share. Damaged frames are skipped: `missing` says so. Threads cannot share a
 * trace: each opens its own.
 */
#ifndef TRACE_READER_H
#define TRACE_READER_H

#include "trace/decode.h"
#include "trace/definitions.h"
#include "trace/file.h"
#include "trace/header.h"

/* Where a piece is in the file. */
struct trace_piece_ref {
    uint32_t rank;
    uint16_t thread;
    uint16_t flags;     /* enum trace_piece_flag */
    uint32_t frame;     /* number in frames */
    uint32_t at, bytes; /* within the frame's payload */
    uint32_t records;
    int64_t base;
};

/* A frame, loaded while a cursor uses it. */
struct trace_loaded {
    uint64_t offset;
    uint8_t *memory; /* NULL: it is not loaded, or is used in the mapped file */
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
    /* Sorted by rank, thread, kind (definitions first); then as in the file. */
    struct trace_piece_ref *pieces;
    size_t piece_count;
    size_t last; /* number + 1 of a frame that stays loaded although no cursor uses it */
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
/* Finds out whether a frame is damaged, before its records are read: then `missing` says so. Reads
 * the whole file. */
void trace_check_frames(struct trace *);

/* The number of threads of a rank: 1 + the highest that has records. */
unsigned trace_threads(const struct trace *, uint64_t rank);

struct trace_cursor {
    struct trace *trace;
    struct trace_decoder decoder;
    size_t next, end; /* pieces still to read */
    size_t frame;     /* in use, + 1 */
};

void trace_cursor_open(struct trace_cursor *, struct trace *, uint64_t rank, unsigned thread,
                       enum trace_what);
void trace_cursor_close(struct trace_cursor *);
/* Returns 1 with the next record, 0 at the end, or ERR_INPUT if the block is damaged; the next call
 * then continues with the next block. */
int trace_cursor_next(struct trace_cursor *, struct trace_event *, struct err *);

/* Loads a frame, for copying pieces; NULL if it is damaged. Release it with trace_release. */
const uint8_t *trace_acquire(struct trace *, size_t frame);
void trace_release(struct trace *, size_t frame);

#endif
