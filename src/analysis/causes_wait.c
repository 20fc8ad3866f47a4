/*
 * causes_wait.c - counts wait states, and updates paths and delays by them.
 */
#include <assert.h>
#include <string.h>

#include "analysis/causes_internal.h"
#include "base/array.h"

struct blocked *causes_block(struct causes *r, struct lane *l)
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

void causes_unblock(struct causes *r, struct blocked *b)
{
    struct lane *l = &r->lanes[b->lane];
    assert(b->refs > 0);
    if (b->is_current && l->blocked == b) {
        assert(l->awaiting > 0);
        l->awaiting--;
    }
    if (--b->refs == 0)
        pool_free(&r->pool, b, sizeof *b);
}

static void count_place(struct causes *r, uint32_t place, enum analysis_wait kind, int64_t ticks)
{
    ARRAY_RESERVE_ZERO(r->place_waits, r->place_count, (size_t)place + 1, 16);
    r->place_waits[place][kind] += ticks;
}

void causes_count(struct causes *r, const struct blocked *b, enum analysis_wait kind, int64_t ticks)
{
    if (ticks <= 0)
        return;
    r->lanes[r->lanes[b->lane].rank].waits[kind] += ticks;
    r->wait_counts[kind]++;
    count_place(r, b->place, kind, ticks);
}

void causes_last_sync(const struct lane *a, struct delay_snapshot *a_pair, const struct lane *b,
                      struct delay_snapshot *b_pair, const struct delay_snapshot **a_then,
                      const struct delay_snapshot **b_then)
{
    int is_newest = a_pair && b_pair && a_pair->epoch == a->sums.epoch &&
                    b_pair->epoch == b->sums.epoch;
    int has_world = a->world && b->world && a->sums.epoch == b->sums.epoch;
    *a_then = is_newest || !has_world ? a_pair : a->world;
    *b_then = is_newest || !has_world ? b_pair : b->world;
}

void causes_wait(struct causes *r, struct blocked *b, enum analysis_wait kind, int64_t time,
                 struct lane *cause, const struct delay_snapshot *then,
                 const struct delay_snapshot *cause_then)
{
    causes_wait_parts(r, b, kind, INT64_MIN, kind, time, cause, then, cause_then);
}

/* The path of the lane continues from this one of another rank. */
static void hop(struct causes *r, struct lane *l, struct path_end *from, int64_t time)
{
    if (!r->has_path)
        return;
    path_hop(&r->path, &l->path, from);
    l->path_from = time;
    if (r->watch && r->watch->hop)
        r->watch->hop(r->watch->context, l->rank, from->rank, time);
}

void causes_wait_earlier(struct causes *r, struct blocked *b, enum analysis_wait kind, int64_t time,
                         struct lane *cause, struct path_end *path,
                         const struct delay_snapshot *then, const struct delay_snapshot *cause_then)
{
    struct lane *l = &r->lanes[b->lane];
    int64_t ticks = time - b->until;
    if (ticks <= 0 || time > b->leave)
        return;
    causes_count(r, b, kind, ticks);
    b->until = time;
    l->waited += ticks;
    if (r->has_delays && cause->enter == time) {
        delays_attribute(&r->delays, &l->sums, then, &cause->sums, cause_then, ticks);
        r->lanes[cause->rank].delay_cost += (double)ticks;
    } else if (r->has_delays) {
        delays_attribute_unknown(&r->delays, &l->sums, ticks);
    }
    hop(r, l, path, time);
}

void causes_wait_parts(struct causes *r, struct blocked *b, enum analysis_wait first,
                       int64_t first_until, enum analysis_wait kind, int64_t time,
                       struct lane *cause, const struct delay_snapshot *then,
                       const struct delay_snapshot *cause_then)
{
    struct lane *l = &r->lanes[b->lane];
    int64_t end = time < b->leave ? time : b->leave, ticks = end - b->until;
    if (ticks <= 0)
        return;
    int64_t change = first_until < b->until ? b->until : first_until > end ? end : first_until;
    causes_count(r, b, first, change - b->until);
    causes_count(r, b, kind, end - change);
    b->until = end;
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
    if (time <= b->leave)
        hop(r, l, &cause->path, time);
}
