/*
 * clocks.c - converts times of several computers to the clock of rank 0 (see clocks.h).
 */
#include "trace/clocks.h"

#include <string.h>

#include "base/array.h"
#include "trace/definitions.h"
#include "trace/format.h"
#include "trace/payload.h"

void trace_clock_point_write(struct buf *out, uint64_t clock, const struct trace_clock_point *p)
{
    buf_add(out, &clock, sizeof clock);
    trace_write_number(out, p->local);
    trace_write_number(out, p->offset);
    trace_write_number(out, p->error);
}

void trace_clock_rank_write(struct buf *out, uint64_t rank, uint64_t clock, int64_t began)
{
    buf_add(out, &clock, sizeof clock);
    trace_write_varint(out, rank);
    trace_write_number(out, began);
}

void trace_clocks_init(struct trace_clocks *c)
{
    *c = (struct trace_clocks){0};
    map_init(&c->by_rank);
}

void trace_clocks_fini(struct trace_clocks *c)
{
    mem_free(c->clocks);
    mem_free(c->ranks);
    map_fini(&c->by_rank);
}

static struct trace_clock *clock_of(struct trace_clocks *c, uint64_t identity)
{
    for (size_t i = 0; i < c->count; i++)
        if (c->clocks[i].identity == identity)
            return &c->clocks[i];
    c->clocks = mem_realloc(c->clocks, (c->count + 1) * sizeof *c->clocks);
    c->clocks[c->count] = (struct trace_clock){.identity = identity};
    return &c->clocks[c->count++];
}

static void add_point(struct trace_clock *clock, struct trace_clock_point p)
{
    if (!clock->points++) {
        clock->first = clock->last = p;
        return;
    }
    if (p.local < clock->first.local)
        clock->first = p;
    if (p.local > clock->last.local)
        clock->last = p;
}

static void add_rank(struct trace_clocks *c, uint64_t rank, uint64_t clock, int64_t began)
{
    int is_new;
    uint64_t *number = map_insert(&c->by_rank, rank, &is_new);
    if (!is_new)
        return;
    *number = (uint64_t)(clock_of(c, clock) - c->clocks) + 1;
    ARRAY_EXTEND(c->ranks, c->rank_count);
    c->ranks[c->rank_count].rank = rank;
    c->ranks[c->rank_count].clock = clock;
    c->ranks[c->rank_count++].began = began;
}

void trace_clocks_take(struct trace_clocks *c, unsigned kind, const uint8_t *at, size_t bytes)
{
    const uint8_t *end = at + bytes;
    uint64_t clock, rank;
    struct trace_clock_point p;
    int64_t began;
    if ((kind != TRACE_CLOCK && kind != TRACE_CLOCK_RANK) || bytes < sizeof clock)
        return;
    memcpy(&clock, at, sizeof clock);
    at += sizeof clock;
    if (kind == TRACE_CLOCK) {
        if ((at = trace_number_get(at, end, &p.local)) &&
            (at = trace_number_get(at, end, &p.offset)) && trace_number_get(at, end, &p.error))
            add_point(clock_of(c, clock), p);
    } else if ((at = trace_varint_get(at, end, &rank)) && trace_number_get(at, end, &began)) {
        add_rank(c, rank, clock, began);
    }
}

/* Rounded down, so that the result never decreases: drift is far below 1. */
static int64_t common_time(const struct trace_clock *clock, int64_t local)
{
    if (!clock->points)
        return local;
    __int128 passed = (__int128)local - clock->first.local,
             span = (__int128)clock->last.local - clock->first.local,
             change = (__int128)clock->last.offset - clock->first.offset, moved = 0;
    if (span > 0 && change > -span) {
        moved = passed * change / span;
        if (moved * span > passed * change)
            moved--;
    }
    return (int64_t)(local + clock->first.offset + moved);
}

int64_t trace_clocks_time(const struct trace_clocks *c, uint64_t rank, int64_t local)
{
    const uint64_t *number = map_find(&c->by_rank, rank);
    return (number ? common_time(&c->clocks[*number - 1], local) : local) - c->origin;
}

int64_t trace_clocks_error(const struct trace_clocks *c)
{
    int64_t worst = -1;
    for (size_t i = 0; i < c->count; i++) {
        if (!c->clocks[i].points)
            continue;
        worst = c->clocks[i].first.error > worst ? c->clocks[i].first.error : worst;
        worst = c->clocks[i].last.error > worst ? c->clocks[i].last.error : worst;
    }
    return worst;
}

void trace_clocks_find_origin(struct trace_clocks *c)
{
    int64_t first = INT64_MAX;
    c->origin = 0;
    for (size_t i = 0; i < c->rank_count; i++) {
        int64_t began = trace_clocks_time(c, c->ranks[i].rank, c->ranks[i].began);
        first = began < first ? began : first;
    }
    c->origin = first == INT64_MAX ? 0 : first;
}
