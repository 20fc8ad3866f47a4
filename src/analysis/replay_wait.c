/*
 * replay_wait.c - counts wait states, and updates paths and delays by them.
 */
#include <string.h>

#include "analysis/replay_internal.h"
#include "base/array.h"

struct blocked *replay_block(struct replay *r, struct lane *l)
{
    struct blocked *b = l->blocked;
    if (!b) {
        b = l->blocked = pool_alloc(&r->pool, sizeof *b);
        *b = (struct blocked){
            .lane = (uint32_t)(l - r->lanes),
            .refs = 1,
            .enter = l->enter,
            .leave = l->leave,
            .until = l->enter,
            .place = l->place,
            .is_current = 1,
        };
    }
    b->refs++;
    l->awaiting++;
    return b;
}

void replay_unblock(struct replay *r, struct blocked *b)
{
    struct lane *l = &r->lanes[b->lane];
    if (b->is_current && l->blocked == b)
        l->awaiting--;
    if (--b->refs == 0)
        pool_free(&r->pool, b, sizeof *b);
}

static void count_place(struct replay *r, uint32_t place, enum analysis_wait kind, int64_t ticks)
{
    ARRAY_RESERVE_ZERO(r->place_waits, r->place_count, (size_t)place + 1, 16);
    r->place_waits[place][kind] += ticks;
}

void replay_count(struct replay *r, const struct blocked *b, enum analysis_wait kind, int64_t ticks)
{
    if (ticks <= 0)
        return;
    r->lanes[r->lanes[b->lane].rank].waits[kind] += ticks;
    r->wait_counts[kind]++;
    count_place(r, b->place, kind, ticks);
}

void replay_wait(struct replay *r, struct blocked *b, enum analysis_wait kind, int64_t time,
                 struct lane *cause, const struct delay_snapshot *then,
                 const struct delay_snapshot *cause_then)
{
    struct lane *l = &r->lanes[b->lane];
    int64_t end = time < b->leave ? time : b->leave, ticks = end - b->until;
    if (ticks <= 0)
        return;
    b->until = end;
    replay_count(r, b, kind, ticks);
    if (!b->is_current) {
        if (r->has_delays)
            delays_attribute_unknown(&r->delays, &l->sums, ticks);
        return;
    }
    l->waited += ticks;
    if (r->has_delays) {
        delays_attribute(&r->delays, &l->sums, then, &cause->sums, cause_then, ticks);
        r->lanes[cause->rank].delay_cost += (double)ticks;
    }
    if (r->has_path && time <= b->leave) {
        path_hop(&r->path, &l->path, &cause->path);
        l->path_from = time;
        if (r->watch && r->watch->hop)
            r->watch->hop(r->watch->context, l->rank, cause->rank, time);
    }
}
