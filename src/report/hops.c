/*
 * hops.c - the critical path over time.
 */
#include "report/hops.h"

#include <string.h>

#include "base/array.h"
#include "trace/format.h"

void hops_init(struct hops *h, uint32_t ranks, size_t most)
{
    memset(h, 0, sizeof *h);
    h->ranks = ranks;
    h->most = most;
    h->last = mem_zalloc((size_t)ranks * sizeof *h->last);
}

void hops_fini(struct hops *h)
{
    mem_free(h->items);
    mem_free(h->last);
}

/* Drops hops that no rank's path uses. Hops lead to earlier ones, so one pass backwards marks all
 * that are needed. */
static void drop_unused(struct hops *h)
{
    uint32_t *number = mem_zalloc((h->count + 1) * sizeof *number); /* by hop + 1: the new one */
    size_t kept = 0;
    for (uint32_t i = 0; i < h->ranks; i++)
        number[h->last[i]] = 1;
    for (size_t i = h->count; i > 0; i--)
        if (number[i])
            number[h->items[i - 1].before] = 1;
    number[0] = 0;
    for (size_t i = 1; i <= h->count; i++) {
        if (!number[i])
            continue;
        h->items[kept] = h->items[i - 1];
        h->items[kept].before = number[h->items[kept].before];
        number[i] = (uint32_t)++kept;
    }
    for (uint32_t i = 0; i < h->ranks; i++)
        h->last[i] = number[h->last[i]];
    h->count = kept;
    mem_free(number);
}

void hops_add(struct hops *h, uint32_t rank, uint32_t other, int64_t time)
{
    if (h->is_lost || rank >= h->ranks || other >= h->ranks)
        return;
    if (h->count == h->most) {
        drop_unused(h);
        h->most = h->count > h->most / 2 ? 2 * h->most : h->most;
        if (h->most > HOPS_MOST) {
            h->is_lost = 1;
            return;
        }
    }
    ARRAY_RESERVE(h->items, h->room, h->count + 1, 1024);
    h->items[h->count++] = (struct hop){time, rank, other, h->last[other]};
    h->last[rank] = (uint32_t)h->count;
}

struct hops_step *hops_path(const struct hops *h, uint32_t rank, int64_t begin, int64_t end,
                            size_t *count)
{
    size_t steps = 1, at = h->last[rank];
    if (h->is_lost)
        return NULL;
    for (size_t i = at; i; i = h->items[i - 1].before)
        steps++;
    struct hops_step *path = mem_alloc(steps * sizeof *path);
    memset(path, 0, steps * sizeof *path);
    *count = steps;
    while (at) {
        const struct hop *hop = &h->items[at - 1];
        steps--;
        path[steps].rank = rank;
        path[steps].from = hop->time;
        path[steps].to = end;
        end = hop->time;
        rank = hop->other;
        at = hop->before;
    }
    path[0].rank = rank;
    path[0].from = begin < end ? begin : end;
    path[0].to = end;
    return path;
}

static void put(struct buf *out, uint64_t value)
{
    uint8_t text[TRACE_VARINT_MAX];
    buf_add(out, text, (size_t)(trace_varint_put(text, value) - text));
}

static unsigned write_steps(const struct hops_step *steps, size_t count, int64_t unit,
                            struct chunks *chunks)
{
    struct buf columns[3], all;
    int64_t time = 0;
    buf_init(&all);
    for (unsigned i = 0; i < 3; i++)
        buf_init(&columns[i]);
    for (size_t i = 0; i < count; i++) {
        int64_t from = steps[i].from / unit, to = steps[i].to / unit;
        from = from < time ? time : from;
        to = to < from ? from : to;
        put(&columns[0], steps[i].rank);
        put(&columns[1], (uint64_t)(from - time));
        put(&columns[2], (uint64_t)(to - from));
        time = to;
    }
    for (unsigned i = 0; i < 3; i++) {
        put(&all, columns[i].len);
        buf_add(&all, buf_str(&columns[i]), columns[i].len);
        buf_fini(&columns[i]);
    }
    unsigned chunk = chunks_add(chunks, all.data, all.len);
    buf_fini(&all);
    return chunk;
}

void hops_write(const struct hops *h, uint32_t rank, int64_t begin, int64_t end, int64_t unit,
                struct chunks *chunks, struct json *json)
{
    size_t count;
    struct hops_step *steps = hops_path(h, rank, begin, end, &count);
    if (steps && count <= HOPS_STEPS_MOST) {
        json_key(json, "path");
        json_object_begin(json);
        json_key(json, "chunk");
        json_uint(json, write_steps(steps, count, unit, chunks));
        json_key(json, "count");
        json_uint(json, count);
        json_object_end(json);
    }
    mem_free(steps);
}
