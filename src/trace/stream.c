/*
 * stream.c - encodes records.
 */
#include <assert.h>
#include <string.h>

#include "base/mem.h"
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
                               .flags = (uint16_t)(flags | TRACE_PIECE_BEGINS)};
}

static size_t used(const struct trace_stream *s)
{
    return (size_t)(s->at - s->data);
}

static void __attribute__((noinline)) grow(struct trace_stream *s, size_t bytes)
{
    size_t have = used(s), room = s->room ? s->room : ROOM_FIRST;
    while (room < have + bytes)
        room *= 2;
    s->data = mem_realloc(s->data, room);
    s->at = s->data + have;
    s->sink->buffered += room - s->room;
    s->room = (uint32_t)room;
}

static inline void need(struct trace_stream *s, size_t bytes)
{
    if (__builtin_expect(s->room - used(s) < bytes, 0))
        grow(s, bytes);
}

static void hand_over(struct trace_stream *s)
{
    struct trace_piece piece = {s->flags,   s->rank, s->thread, s->base,
                                s->records, s->data, used(s)};
    s->sink->take(s->sink, &piece);
    s->at = s->data;
    s->records = 0;
    s->base = s->last;
}

static void free_memory(struct trace_stream *s)
{
    s->sink->buffered -= s->room;
    mem_free(s->data);
    s->data = s->at = NULL;
    s->room = 0;
}

/* The block continues in the next piece. */
static void hand_over_piece(struct trace_stream *s)
{
    s->block += (uint32_t)used(s);
    hand_over(s);
    s->flags &= (uint16_t)~TRACE_PIECE_BEGINS;
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

/* The piece is full, or the block: then the next one starts anew. */
static void __attribute__((noinline)) cut(struct trace_stream *s)
{
    if (s->block + used(s) < s->sink->block) {
        hand_over_piece(s);
        return;
    }
    hand_over(s);
    s->flags |= TRACE_PIECE_BEGINS;
    s->block = 0;
    s->last_request = 0;
}

void trace_record_end(struct trace_stream *s)
{
    s->records++;
    size_t bytes = used(s);
    if (__builtin_expect(bytes >= s->sink->piece || s->block + bytes >= s->sink->block, 0))
        cut(s);
}

void trace_call_begin(struct trace_stream *s, unsigned fn, int64_t enter, int64_t leave)
{
    assert(leave >= s->last && enter <= leave);
    need(s, HEAD_MOST);
    uint8_t *at = trace_varint_put(s->at, TRACE_CALL + (uint64_t)fn);
    at = trace_varint_put(at, (uint64_t)(leave - s->last));
    s->at = trace_varint_put(at, (uint64_t)(leave - enter));
    s->last = leave;
}

void trace_other(struct trace_stream *s, enum trace_head head, int64_t time, const void *payload,
                 size_t bytes)
{
    assert(time >= s->last);
    need(s, HEAD_MOST + bytes);
    uint8_t *at = trace_varint_put(s->at, head);
    at = trace_varint_put(at, (uint64_t)(time - s->last));
    at = trace_varint_put(at, bytes);
    if (bytes)
        memcpy(at, payload, bytes);
    s->at = at + bytes;
    s->last = time;
    trace_record_end(s);
}

/* ---- arguments ---- */

void trace_put_varint(struct trace_stream *s, uint64_t value)
{
    need(s, TRACE_VARINT_MAX);
    s->at = trace_varint_put(s->at, value);
}

void trace_put_number(struct trace_stream *s, int64_t value)
{
    trace_put_varint(s, trace_zigzag(value));
}

void trace_put_request(struct trace_stream *s, int64_t number)
{
    if (number < 0) {
        trace_put_varint(s, 0);
        return;
    }
    trace_put_varint(s, 1 + trace_zigzag(number - s->last_request));
    s->last_request = number;
}

void trace_put_text(struct trace_stream *s, const char *text, size_t bytes)
{
    need(s, TRACE_VARINT_MAX + bytes);
    s->at = trace_varint_put(s->at, bytes);
    if (bytes)
        memcpy(s->at, text, bytes);
    s->at += bytes;
}

void trace_put_status(struct trace_stream *s, const struct trace_status *status)
{
    if (!status->is_set) {
        trace_put_varint(s, 0);
        return;
    }
    need(s, 4 * TRACE_VARINT_MAX);
    uint8_t *at = trace_varint_put(s->at, status->is_cancelled ? 3 : 1);
    at = trace_varint_put(at, trace_zigzag(status->source));
    at = trace_varint_put(at, trace_zigzag(status->tag));
    s->at = trace_varint_put(at, status->bytes);
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
    buf_add(out, s.data, used(&s));
    mem_free(s.data);
}

void trace_put_statuses(struct trace_stream *s, const struct trace_status *statuses, size_t count)
{
    trace_put_varint(s, count);
    for (size_t i = 0; i < count; i++)
        trace_put_status(s, &statuses[i]);
}
