/*
 * stream.c - encodes records.
 */
#include <assert.h>
#include <string.h>

#include "base/array.h"
#include "base/hostile.h"
#include "trace/payload.h"
#include "trace/stream.h"

#define ROOM_FIRST 128
#define HEAD_MOST (4 * TRACE_VARINT_MAX)

void trace_stream_init(struct trace_stream *s, struct trace_sink *sink, uint64_t rank,
                       unsigned thread, unsigned flags)
{
    *s = (struct trace_stream){.sink = sink,
                               .rank = (uint32_t)rank,
                               .thread = (uint16_t)thread,
                               .flags = (uint8_t)(flags | TRACE_PIECE_BEGINS)};
}

/* Where the piece is full, or the block. */
static void set_limit(struct trace_stream *s)
{
    size_t left = s->block < s->sink->block ? s->sink->block - s->block : 0;
    size_t limit = left < s->sink->piece ? left : s->sink->piece;
    s->limit = limit < UINT32_MAX ? (uint32_t)limit : UINT32_MAX;
}

void trace_stream_lend(struct trace_stream *s, void *memory, size_t bytes)
{
    s->data = memory;
    s->room = (uint32_t)bytes;
    s->is_lent = 1;
    set_limit(s);
}

void __attribute__((noinline)) trace_stream_grow(struct trace_stream *s, size_t bytes)
{
    size_t had = s->is_lent ? 0 : s->room, room = array_room(s->room, s->used + bytes, ROOM_FIRST);
    uint8_t *data = mem_realloc(s->is_lent ? NULL : s->data, room);
    if (s->is_lent && s->used)
        memcpy(data, s->data, s->used);
    s->data = data;
    s->is_lent = 0;
    s->sink->buffered += room - had;
    s->room = (uint32_t)room;
    set_limit(s);
}

static void hand_over(struct trace_stream *s)
{
    if (s->definitions)
        trace_stream_spill(s->definitions);
    struct trace_piece piece = {s->flags,   s->rank, s->thread, s->base,
                                s->records, s->data, s->used};
    s->sink->take(s->sink, &piece);
    s->used = 0;
    s->records = 0;
    s->base = s->last;
}

static void free_memory(struct trace_stream *s)
{
    if (s->is_lent)
        return;
    s->sink->buffered -= s->room;
    mem_free(s->data);
    s->data = NULL;
    s->room = 0;
}

/* The block continues in the next piece. */
static void hand_over_piece(struct trace_stream *s)
{
    s->block += s->used;
    hand_over(s);
    s->flags &= (uint8_t)~TRACE_PIECE_BEGINS;
    set_limit(s);
}

void trace_stream_spill(struct trace_stream *s)
{
    if (!s->records)
        return;
    hand_over_piece(s);
    if (s->room > ROOM_FIRST)
        free_memory(s);
}

void trace_stream_fini(struct trace_stream *s)
{
    if (s->records)
        hand_over_piece(s);
    free_memory(s);
}

/* The piece is full, or the block: the next record begins a new one. */
static void __attribute__((noinline)) cut(struct trace_stream *s)
{
    if (s->block + s->used < s->sink->block) {
        hand_over_piece(s);
        return;
    }
    hand_over(s);
    s->flags |= TRACE_PIECE_BEGINS;
    s->block = 0;
    s->last_request = 0;
    set_limit(s);
}

void trace_record_end(struct trace_stream *s)
{
    assert_hot(s->used <= s->room);
    s->records++;
    if (__builtin_expect(s->used >= s->limit, 0))
        cut(s);
}

/* Writes function and times; there is room. */
static inline uint8_t *put_call(struct trace_stream *s, unsigned fn, int64_t enter, int64_t leave)
{
    assert(leave >= s->last && enter <= leave);
    uint8_t *at = trace_varint_put(s->data + s->used, TRACE_CALL + (uint64_t)fn);
    at = trace_varint_put(at, (uint64_t)(leave - s->last));
    s->last = leave;
    return trace_varint_put(at, (uint64_t)(leave - enter));
}

void trace_call_begin(struct trace_stream *s, unsigned fn, int64_t enter, int64_t leave)
{
    trace_room(s, HEAD_MOST);
    trace_filled(s, put_call(s, fn, enter, leave));
}

/* Most records are short: two copies of fixed size, which may overlap, do for them. */
static inline uint8_t *put_bytes(uint8_t *at, const uint8_t *from, size_t bytes)
{
    if (__builtin_expect(bytes > 32, 0)) {
        memcpy(at, from, bytes);
    } else if (bytes >= 16) {
        memcpy(at, from, 16);
        memcpy(at + bytes - 16, from + bytes - 16, 16);
    } else if (bytes >= 8) {
        memcpy(at, from, 8);
        memcpy(at + bytes - 8, from + bytes - 8, 8);
    } else if (bytes >= 4) {
        memcpy(at, from, 4);
        memcpy(at + bytes - 4, from + bytes - 4, 4);
    } else {
        for (size_t i = 0; i < bytes; i++)
            at[i] = from[i];
    }
    return at + bytes;
}

void trace_call_encoded(struct trace_stream *s, unsigned fn, int64_t enter, int64_t leave,
                        const void *payload, size_t bytes, int64_t last_request)
{
    trace_room(s, HEAD_MOST + bytes);
    uint8_t *at = put_call(s, fn, enter, leave);
    trace_filled(s, put_bytes(at, payload, bytes));
    s->last_request = last_request;
    trace_record_end(s);
}

void trace_other(struct trace_stream *s, enum trace_head head, int64_t time, const void *payload,
                 size_t bytes)
{
    assert(time >= s->last);
    uint8_t *at = trace_varint_put(trace_room(s, HEAD_MOST + bytes), head);
    at = trace_varint_put(at, (uint64_t)(time - s->last));
    at = trace_varint_put(at, bytes);
    if (bytes)
        memcpy(at, payload, bytes);
    trace_filled(s, at + bytes);
    s->last = time;
    trace_record_end(s);
}

/* ---- arguments ---- */

void trace_put_varint(struct trace_stream *s, uint64_t value)
{
    trace_filled(s, trace_varint_put(trace_room(s, TRACE_VARINT_MAX), value));
}

void trace_put_number(struct trace_stream *s, int64_t value)
{
    trace_put_varint(s, trace_zigzag(value));
}

void trace_put_request(struct trace_stream *s, int64_t number)
{
    trace_filled(s, trace_request_put(s, trace_room(s, TRACE_VARINT_MAX), number));
}

void trace_put_text(struct trace_stream *s, const char *text, size_t bytes)
{
    uint8_t *at = trace_varint_put(trace_room(s, TRACE_VARINT_MAX + bytes), bytes);
    if (bytes)
        memcpy(at, text, bytes);
    trace_filled(s, at + bytes);
}

void trace_put_status(struct trace_stream *s, const struct trace_status *status)
{
    if (!status->is_set) {
        trace_put_varint(s, 0);
        return;
    }
    uint8_t *at = trace_varint_put(trace_room(s, 4 * TRACE_VARINT_MAX),
                                   status->is_cancelled ? 3 : 1);
    at = trace_varint_put(at, trace_zigzag(status->source));
    at = trace_varint_put(at, trace_zigzag(status->tag));
    trace_filled(s, trace_varint_put(at, status->bytes));
}

/* Differences wrap around, as do their sums when read. */
static int64_t step(const int64_t *items, size_t i)
{
    return (int64_t)((uint64_t)items[i] - (i ? (uint64_t)items[i - 1] : 0));
}

/* The number of equal differences from i on. */
static size_t run_at(const int64_t *items, size_t count, size_t i)
{
    size_t end = i + 1;
    while (end < count && step(items, end) == step(items, i))
        end++;
    return end - i;
}

#define RUN_LEAST 3

void trace_put_array(struct trace_stream *s, const int64_t *items, size_t count)
{
    trace_put_varint(s, count);
    for (size_t i = 0; i < count;) {
        size_t run = run_at(items, count, i), end = i + run;
        if (run >= RUN_LEAST) {
            trace_put_varint(s, (uint64_t)run << 1 | 1);
            trace_put_number(s, step(items, i));
            i = end;
            continue;
        }
        while (end < count && (run = run_at(items, count, end)) < RUN_LEAST)
            end += run;
        trace_put_varint(s, (uint64_t)(end - i) << 1);
        for (; i < end; i++)
            trace_put_number(s, step(items, i));
    }
}

void trace_write_array(struct buf *out, const int64_t *items, size_t count)
{
    struct trace_sink nowhere = {.block = SIZE_MAX};
    struct trace_stream s;
    trace_stream_init(&s, &nowhere, 0, 0, 0);
    trace_put_array(&s, items, count);
    buf_add(out, s.data, s.used);
    mem_free(s.data);
}

void trace_put_statuses(struct trace_stream *s, const struct trace_status *statuses, size_t count)
{
    trace_put_varint(s, count);
    for (size_t i = 0; i < count; i++)
        trace_put_status(s, &statuses[i]);
}
