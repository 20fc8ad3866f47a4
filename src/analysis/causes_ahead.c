/*
 * causes_ahead.c - prefetches what the next turns need.
 *
 * With many lanes, the state of a lane has left the caches when its turn comes. The lanes whose
 * turns come soon are near the top of the heap. Those two levels below the top are prefetched; of
 * those one level below it, what they point to, and what their next records need.
 */
#include "analysis/causes_internal.h"

#define LINE 64
#define WAYS 4 /* of the heap */
#define FEW_REQUESTS 16

/* Inlined always: the compiler may drop the call of a function that only prefetches. */
#define INLINE __attribute__((always_inline)) static inline

INLINE void fetch(const void *from, size_t begin, size_t end)
{
    for (size_t at = begin / LINE * LINE; at < end; at += LINE)
        __builtin_prefetch((const char *)from + at, 1);
}

INLINE void fetch_lane(const struct lane *l)
{
    fetch(l, 0, offsetof(struct lane, event.args[8]));
    fetch(l, offsetof(struct lane, rank), sizeof *l);
}

/* The state of a message from or to the lane. */
INLINE void fetch_message(const struct causes *r, const struct lane *l, const struct mpi_effect *s)
{
    const struct trace_event *e = &l->event;
    const struct handles *h = &r->lanes[l->rank].handles;
    int is_send = s->dest >= 0;
    int8_t peer_at = is_send ? s->dest : s->source, tag_at = is_send ? s->send_tag : s->recv_tag;
    if (peer_at < 0 || tag_at < 0 || s->comm < 0)
        return;
    struct handles_mine mine = handles_comm(h, e->args[s->comm].number);
    int64_t peer = handles_peer(&r->book, h, mine, e->args[peer_at].number);
    if (peer < 0 || peer >= r->ranks)
        return;
    uint32_t other = (uint32_t)peer;
    channel_prefetch(r, mine.comm, is_send ? l->rank : other, is_send ? other : l->rank,
                     (int32_t)e->args[tag_at].number);
    if (!is_send)
        return;
    __builtin_prefetch(&r->lanes[other].in_flight, 1);
    const struct near *near = causes_near(r, l, other);
    if (near)
        __builtin_prefetch(&r->pairs.items[near->number], 1);
}

/* The requests of a call that makes or completes some. */
INLINE void fetch_requests(const struct causes *r, const struct lane *l, const struct mpi_effect *s)
{
    const struct trace_value *given = &l->event.args[s->request];
    const struct map *requests = &r->lanes[l->rank].requests;
    if (!given->count) { /* no array */
        map_prefetch(requests, (uint64_t)given->number);
        return;
    }
    __builtin_prefetch(given->items);
    if (requests->slots)
        fetch(requests->slots, 0, FEW_REQUESTS * sizeof *requests->slots);
    if (s->status >= 0)
        __builtin_prefetch(l->event.args[s->status].statuses);
}

INLINE void fetch_rest(const struct causes *r, const struct lane *l)
{
    __builtin_prefetch(l->cursor.decoder.at);
    __builtin_prefetch(l->sums.cells, 1);
    __builtin_prefetch(l->path.own, 1);
    __builtin_prefetch(l->blocked, 1);
    if (!l->has_more || l->event.head != TRACE_CALL)
        return;
    const struct mpi_effect *s = &r->shapes[l->event.fn];
    if (s->request >= 0)
        fetch_requests(r, l, s);
    fetch_message(r, l, s);
}

void causes_ahead(struct causes *r)
{
    const struct due *at = r->due.at;
    uint32_t len = r->due.len;
    for (uint32_t i = 1; i <= WAYS && i < len; i++) {
        if (r->soon[i - 1] == at[i].lane)
            continue;
        r->soon[i - 1] = at[i].lane;
        fetch_rest(r, &r->lanes[at[i].lane]);
        for (uint32_t k = WAYS * i + 1; k <= WAYS * i + WAYS && k < len; k++)
            fetch_lane(&r->lanes[at[k].lane]);
    }
}
