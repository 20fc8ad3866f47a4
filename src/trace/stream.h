/*
 * stream.h - a stream of records as it is written: encodes them and cuts the stream into blocks
 * (format.h). Knows nothing of files: a sink takes each full block. A stream belongs to one thread
 * of one rank. It uses as much memory as the records of the current block. Nothing here switches.
 *
 *     trace_call_begin(&s, fn, enter, leave);
 *     trace_put_number(&s, count);  ...   one for each argument that the schema keeps, in its order
 *     trace_record_end(&s);
 */
#ifndef TRACE_STREAM_H
#define TRACE_STREAM_H

#include <stddef.h>
#include <stdint.h>

#include "trace/format.h"

struct trace_stream;

/* A piece of a stream, borrowed for the call. */
struct trace_piece {
    unsigned flags; /* enum trace_piece_flag */
    uint64_t rank, thread;
    int64_t base; /* time of the record before the first one here */
    uint64_t records;
    const uint8_t *data;
    size_t bytes;
};

/* Takes the pieces of streams. */
struct trace_sink {
    void (*take)(struct trace_sink *, const struct trace_piece *);
    size_t block;    /* bytes after which a block ends */
    size_t piece;    /* bytes after which a stream hands over a piece of its block */
    size_t buffered; /* bytes of memory of all its streams */
};

/* What every record needs comes first. */
struct trace_stream {
    uint8_t *data;
    uint32_t used, room;  /* bytes of data */
    uint32_t limit;       /* a record that ends there or behind it ends the piece */
    uint32_t records;     /* in data */
    int64_t last;         /* time of the last record */
    int64_t last_request; /* that was mentioned in the block */
    struct trace_sink *sink;
    uint32_t block; /* bytes of the current block that the sink has taken */
    uint32_t rank;
    uint16_t thread;
    uint8_t flags;   /* of the next piece */
    uint8_t is_lent; /* data is the caller's */
    int64_t base;    /* time of the last record before data */
    /* Of definitions that records here may use: the sink takes them first. NULL: there is none. */
    struct trace_stream *definitions;
};

/* A status as it is recorded. */
struct trace_status {
    int32_t source, tag; /* the source is a rank of the trace */
    uint64_t bytes;
    uint8_t is_set, is_cancelled;
};

/* Whether both are encoded as the same bytes. */
static inline int trace_status_equal(const struct trace_status *a, const struct trace_status *b)
{
    return (!a->is_set && !b->is_set) ||
           (a->is_set && b->is_set && a->source == b->source && a->tag == b->tag &&
            a->bytes == b->bytes && !a->is_cancelled == !b->is_cancelled);
}

void trace_stream_init(struct trace_stream *, struct trace_sink *, uint64_t rank, unsigned thread,
                       unsigned flags);
/* Records go to this memory of the caller while they fit. It must live as long as the stream. */
void trace_stream_lend(struct trace_stream *, void *memory, size_t bytes);
/* Makes room for this many more bytes. */
void trace_stream_grow(struct trace_stream *, size_t bytes);
/* Passes the records so far to the sink; the block continues. */
void trace_stream_spill(struct trace_stream *);
/* Spills, and frees the memory. */
void trace_stream_fini(struct trace_stream *);

/* Begins the record of a call from `enter` to `leave`, in ticks; `leave` is not earlier than that
 * of the previous record. */
void trace_call_begin(struct trace_stream *, unsigned fn, int64_t enter, int64_t leave);
/* Writes the record of a call whose site and arguments are encoded already; the last request that
 * they mention is `last_request`. */
void trace_call_encoded(struct trace_stream *, unsigned fn, int64_t enter, int64_t leave,
                        const void *payload, size_t bytes, int64_t last_request);
/* Writes another record, whose payload the caller has built. */
void trace_other(struct trace_stream *, enum trace_head, int64_t time, const void *payload,
                 size_t bytes);
/* Ends a call's record; may pass the block to the sink. */
void trace_record_end(struct trace_stream *);

/* To write several values at once: trace_room returns where to write up to this many bytes,
 * trace_filled is told where they end. */
static inline uint8_t *trace_room(struct trace_stream *s, size_t bytes)
{
    if (__builtin_expect(s->room - s->used < bytes, 0))
        trace_stream_grow(s, bytes);
    return s->data + s->used;
}

static inline void trace_filled(struct trace_stream *s, const uint8_t *at)
{
    s->used = (uint32_t)(at - s->data);
}

static inline uint8_t *trace_request_put(struct trace_stream *s, uint8_t *at, int64_t number)
{
    if (number < 0)
        return trace_varint_put(at, 0);
    at = trace_varint_put(at, 1 + trace_zigzag(number - s->last_request));
    s->last_request = number;
    return at;
}

void trace_put_varint(struct trace_stream *,
                      uint64_t value); /* handles: 0, or local number + 1; buffers */
void trace_put_number(struct trace_stream *, int64_t value);
void trace_put_request(struct trace_stream *, int64_t number); /* -1: null */
void trace_put_text(struct trace_stream *, const char *text, size_t bytes);
void trace_put_status(struct trace_stream *, const struct trace_status *);
/* Arrays: of numbers, of handles or requests (local numbers, -1: null), of statuses. */
void trace_put_array(struct trace_stream *, const int64_t *items, size_t count);
void trace_put_statuses(struct trace_stream *, const struct trace_status *, size_t count);

#endif
