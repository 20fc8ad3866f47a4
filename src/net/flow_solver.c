/*
 * flow_solver.c - flows and time.
 *
 * The rate of a flow is constant since `since`, when it had `left` bytes to go; so its end is
 * known, and both are renewed only when the rate changes, never as time passes: the error of `left`
 * is that of one multiplication per change of the rate. The ends of all flows with a rate are in
 * one heap.
 *
 * Invariants: no end lies before `now`. A flow that ends now is finished whatever happens to its
 * links, so flows that end now are handed out before rates are computed, and rates are computed
 * before time moves on: once per time, then, with all that starts, ends and changes at it.
 */
#include "net/flow_solver.h"

#include <assert.h>
#include <math.h>

#include "net/flow_internal.h"

struct flow_solver *flow_solver_create(flow_capacity_fn *capacity, void *owner)
{
    struct flow_solver *s = mem_zalloc(sizeof *s);

    s->capacity = capacity;
    s->owner = owner;
    s->alarm = INFINITY;
    map_init(&s->links);
    pool_init(&s->pool, "flows");
    pool_init(&s->link_pool, "links of flows");
    return s;
}

static size_t flow_size(unsigned hops)
{
    return sizeof(struct flow) + hops * sizeof(struct flow_hop);
}

static void flow_free(struct flow_solver *s, struct flow *f)
{
    pool_free(&s->pool, f, flow_size(f->hop_count));
}

void flow_solver_destroy(struct flow_solver *s)
{
    if (!s)
        return;
    for (uint32_t i = 0; i < s->ends.len; i++)
        flow_list_push(&s->fresh, flow_of(s->ends.entries[i].item));
    for (uint32_t i = 0; i < s->fresh.len; i++)
        flow_free(s, s->fresh.items[i]);
    flow_link_fini(s);
    pool_fini(&s->link_pool);
    pool_fini(&s->pool);
    mem_free(s->ends.entries);
    mem_free(s->levels.entries);
    mem_free(s->fresh.items);
    mem_free(s->dirty.items);
    mem_free(s->pending.items);
    mem_free(s->changed.items);
    mem_free(s->alarms.items);
    mem_free(s);
}

/* ---- ends ---- */

/* The rate is next_rate from now on; the flow's end. */
static vtime turn(struct flow *f, vtime now)
{
    double done = f->rate * (double)(now - f->since);

    f->left = done < f->left ? f->left - done : 0;
    f->since = now;
    f->rate = f->next_rate;
    if (f->left > 0 && !(f->rate > 0))
        return VTIME_NEVER;
    return vtime_add(now, vtime_from_ps_double(f->left / f->rate));
}

/* Gives the changed flows their new ends: one by one if they are few. */
static void renew_ends(struct flow_solver *s)
{
    int many = s->changed.len > 8 && s->changed.len > s->ends.len / 8;

    for (uint32_t i = 0; i < s->changed.len; i++) {
        struct flow *f = s->changed.items[i];

        if (f->place.at && f->rate == f->next_rate)
            continue;
        s->count.rates++;
        vtime end = turn(f, s->now);
        if (!many)
            flow_heap_set(&s->ends, &f->place, end, f->order);
        else if (f->place.at)
            s->ends.entries[f->place.at - 1].key = end;
        else
            flow_heap_append(&s->ends, &f->place, end, f->order);
    }
    if (many)
        flow_heap_build(&s->ends);
}

static int is_first_end_now(const struct flow_solver *s)
{
    return s->ends.len > 0 && s->ends.entries[0].key <= s->now;
}

/* Computes the rates, if something has changed and nothing ends before. */
static void update(struct flow_solver *s)
{
    if ((s->fresh.len == 0 && s->dirty.len == 0) || is_first_end_now(s))
        return;
    s->count.solves++;
    flow_fill(s);
    renew_ends(s);
    s->changed.len = 0;
}

static void advance(struct flow_solver *s, vtime t)
{
    assert(t >= s->now);
    if (t == s->now)
        return;
    update(s);
    assert(s->ends.len == 0 || s->ends.entries[0].key >= t);
    s->now = t;
}

/* ---- the face ---- */

static int is_unlimited(const struct flow *f)
{
    for (unsigned i = 0; i < f->hop_count; i++) {
        if (f->hops[i].link->capacity < INFINITY)
            return 0;
    }
    return 1;
}

struct flow *flow_start(struct flow_solver *s, vtime t, const uint32_t *links, unsigned n,
                        uint64_t bytes, double rate_limit, void *user)
{
    unsigned is_limited = rate_limit < INFINITY;
    unsigned hops = bytes > 0 ? n + is_limited : 0;
    struct flow *f;

    assert(n < FLOW_LINKS_MAX && rate_limit >= 0);
    advance(s, t);
    f = pool_alloc(&s->pool, flow_size(hops));
    *f = (struct flow){.hop_count = hops, .order = s->count.started++, .left = (double)bytes,
                       .since = t, .user = user};
    s->count.active++;
    for (unsigned i = 0; i < n && i < hops; i++)
        flow_link_use(s, f, i, links[i]);
    if (is_limited && hops > 0)
        flow_link_use_private(s, f, n, rate_limit);
    if (is_unlimited(f)) /* of no bytes, for one: it has no hops */
        flow_heap_set(&s->ends, &f->place, t, f->order);
    else
        flow_list_push(&s->fresh, f);
    return f;
}

void flow_capacity(struct flow_solver *s, vtime t, uint32_t link, double capacity)
{
    struct flow_link *l;

    assert(capacity >= 0);
    advance(s, t);
    l = flow_link_find(s, link);
    if (!l || l->capacity == capacity)
        return;
    l->capacity = capacity;
    if (l->use_count > 0)
        flow_link_dirty(s, l);
    else
        l->rest = capacity;
}

vtime flow_next(struct flow_solver *s)
{
    update(s);
    return s->ends.len > 0 ? s->ends.entries[0].key : VTIME_NEVER;
}

int flow_take(struct flow_solver *s, vtime *t, void **user)
{
    vtime end = flow_next(s);
    struct flow *f;

    if (end == VTIME_NEVER)
        return 0;
    s->now = end;
    f = flow_of(flow_heap_pop(&s->ends));
    *t = end;
    *user = f->user;
    flow_link_leave(s, f);
    flow_free(s, f);
    s->count.active--;
    return 1;
}

double flow_rate(struct flow_solver *s, const struct flow *f)
{
    update(s);
    assert(!is_first_end_now(s));
    return f->rate;
}

const struct flow_counters *flow_solver_counters(const struct flow_solver *s)
{
    return &s->count;
}
