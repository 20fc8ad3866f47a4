/*
 * call_blocks.c - every call of a trace, in blocks.
 */
#include "report/call_blocks.h"

#include <string.h>

#include "base/array.h"
#include "trace/format.h"

static void put(struct buf *out, uint64_t value)
{
    uint8_t text[TRACE_VARINT_MAX];
    buf_add(out, text, (size_t)(trace_varint_put(text, value) - text));
}

void calls_init(struct calls *c, struct chunks *chunks, int64_t unit)
{
    memset(c, 0, sizeof *c);
    c->chunks = chunks;
    c->unit = unit;
    buf_init(&c->runs);
    for (unsigned i = 0; i < CALLS_COLUMNS; i++)
        buf_init(&c->columns[i]);
}

void calls_fini(struct calls *c)
{
    buf_fini(&c->runs);
    for (unsigned i = 0; i < CALLS_COLUMNS; i++)
        buf_fini(&c->columns[i]);
    mem_free(c->blocks);
}

static void close_run(struct calls *c)
{
    if (c->run_calls == 0)
        return;
    put(&c->runs, c->rank);
    put(&c->runs, c->thread);
    put(&c->runs, c->run_calls);
    c->run_count++;
    c->run_calls = 0;
    c->end = 0;
}

static void close_block(struct calls *c)
{
    struct buf block;
    close_run(c);
    if (c->open.calls == 0)
        return;
    buf_init(&block);
    put(&block, c->run_count);
    buf_add(&block, buf_str(&c->runs), c->runs.len);
    buf_clear(&c->runs);
    for (unsigned i = 0; i < CALLS_COLUMNS; i++) {
        put(&block, c->columns[i].len);
        buf_add(&block, buf_str(&c->columns[i]), c->columns[i].len);
        buf_clear(&c->columns[i]);
    }
    c->open.chunk = chunks_add(c->chunks, block.data, block.len);
    buf_fini(&block);
    ARRAY_EXTEND(c->blocks, c->count);
    c->blocks[c->count++] = c->open;
    c->open.calls = c->run_count = 0;
}

static void write_next(struct calls *c)
{
    struct calls_block *b = &c->open;
    if (c->next.count == 0)
        return;
    int64_t from = c->next.from / c->unit, to = c->next.to / c->unit;
    from = from < c->end ? c->end : from; /* clocks of a native run may differ a little */
    to = to < from ? from : to;
    if (b->calls == 0)
        *b = (struct calls_block){.first = c->rank, .from = from, .to = to};
    b->last = c->rank;
    b->from = from < b->from ? from : b->from;
    b->to = to > b->to ? to : b->to;
    put(&c->columns[CALLS_GAP], (uint64_t)(from - c->end));
    put(&c->columns[CALLS_DURATION], (uint64_t)(to - from));
    put(&c->columns[CALLS_FUNCTION], 2 * (uint64_t)c->next.fn + (c->next.count > 1));
    if (c->next.count > 1)
        put(&c->columns[CALLS_NUMBER], c->next.count);
    c->end = to;
    c->next.count = 0;
    c->run_calls++;
    c->kept++;
    if (++b->calls >= CALLS_BLOCK)
        close_block(c);
}

void calls_begin(struct calls *c, uint64_t rank, uint64_t thread)
{
    write_next(c);
    close_run(c);
    c->rank = rank;
    c->thread = thread;
}

void calls_add(struct calls *c, unsigned fn, int64_t enter, int64_t leave)
{
    enter = enter < 0 ? 0 : enter;
    leave = leave < enter ? enter : leave;
    int64_t time = leave - enter;
    if (c->next.count && leave / c->unit == c->next.from / c->unit) {
        c->next.fn = time > c->next.longest ? fn : c->next.fn;
        c->next.longest = time > c->next.longest ? time : c->next.longest;
        c->next.to = leave;
        c->next.count++;
        return;
    }
    write_next(c);
    c->next.from = enter;
    c->next.to = leave;
    c->next.longest = time;
    c->next.count = 1;
    c->next.fn = fn;
}

void calls_end(struct calls *c)
{
    write_next(c);
    close_block(c);
}

void calls_write(const struct calls *c, struct json *json)
{
    json_array_begin(json);
    for (size_t i = 0; i < c->count; i++) {
        const struct calls_block *b = &c->blocks[i];
        const int64_t fields[] = {b->chunk,          (int64_t)b->first, (int64_t)b->last,
                                  (int64_t)b->calls, b->from,           b->to};
        json_array_begin(json);
        for (size_t k = 0; k < sizeof fields / sizeof fields[0]; k++)
            json_int(json, fields[k]);
        json_array_end(json);
    }
    json_array_end(json);
}
