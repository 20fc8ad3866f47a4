/*
 * flow_solver.c - flows and time.
 *
 * The rate of a bundle has been constant since `since`, when each of its flows had been served
 * `served` bytes; so the end of its first flow is known. Both are updated only when the rate
 * changes, never as time passes: the rounding error is that of one multiplication per change of the
 * rate. The ends of all bundles with a rate are in one heap.
 *
 * When a flow starts on a link that only one other flow has used, the link becomes shared, and the
 * other flow moves to another bundle.
 *
 * Invariants: no end is before `now`. A flow that ends now is finished whatever happens to its
 * links, so flows that end now are handed out before rates are computed, and rates are computed
 * before time advances: once per point in time, with all that starts, ends and changes at it.
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
    flow_link_init(s);
    pool_init(&s->pool, "flows");
    pool_init(&s->link_pool, "links of flows");
    return s;
}

void flow_solver_meter(struct flow_solver *s, struct bins *bins, uint32_t links)
{
    assert(s->count.started == 0);
    s->meter = bins;
    s->metered = links;
}

static size_t flow_size(const struct flow_solver *s, unsigned legs)
{
    return sizeof(struct flow) + legs * sizeof(struct flow_leg) +
           (s->meter ? sizeof(struct flow_metered) : 0);
}

static void unplaced_remove(struct flow_solver *s, struct flow *f)
{
    struct flow *last = s->unplaced.items[--s->unplaced.len];

    s->unplaced.items[f->unplaced - 1] = last;
    last->unplaced = f->unplaced;
    f->unplaced = 0;
}

static void flow_free(struct flow_solver *s, struct flow *f)
{
    if (f->unplaced)
        unplaced_remove(s, f);
    for (uint32_t i = 0; i < f->leg_count; i++)
        flow_link_leave(s, f->legs[i].link);
    pool_free(&s->pool, f, flow_size(s, f->leg_count));
    s->count.active--;
}

static void bundle_end(struct flow_solver *s, struct flow_bundle *b)
{
    for (uint32_t n = b->weight; n > 0; n--) {
        struct flow *f = b->first;

        flow_bundle_quit(s, f); /* the last flow frees the bundle */
        flow_free(s, f);
    }
}

void flow_solver_destroy(struct flow_solver *s)
{
    if (!s)
        return;
    while (s->unplaced.len > 0) {
        struct flow *f = s->unplaced.items[0];

        unplaced_remove(s, f);
        if (!f->bundle)
            flow_free(s, f);
    }
    while (s->ending.len > 0)
        flow_free(s, flow_of(flow_heap_take(&s->ending)));
    while (s->ends.len > 0)
        bundle_end(s, flow_bundle_of(s->ends.at[0].item));
    while (s->fresh.len > 0)
        bundle_end(s, s->fresh.items[0]);
    flow_link_fini(s);
    pool_fini(&s->link_pool);
    pool_fini(&s->pool);
    mem_free(s->ends.at);
    mem_free(s->ending.at);
    mem_free(s->levels.at);
    mem_free(s->fresh.items);
    mem_free(s->dirty.items);
    mem_free(s->pending.items);
    mem_free(s->changed.items);
    mem_free(s->alarms.items);
    mem_free(s->unplaced.items);
    mem_free(s);
}

/* ---- ends ---- */

/* Updates the ends of the changed bundles: one by one if there are few. */
static void renew_ends(struct flow_solver *s)
{
    int many = s->changed.len > 8 && s->changed.len > s->ends.len / 8;

    for (uint32_t i = 0; i < s->changed.len; i++) {
        struct flow_bundle *b = s->changed.items[i];
        vtime end;

        if (b->slot.at && b->rate == b->next_rate)
            continue;
        s->count.rates++;
        if (s->meter)
            flow_meter_turn(s, b);
        flow_bundle_turn(b, s->now);
        end = flow_bundle_end(b);
        if (!many)
            flow_heap_set(&s->ends, &b->slot, end, b->order);
        else if (b->slot.at)
            s->ends.at[b->slot.at - 1].key = end;
        else
            flow_heap_append(&s->ends, (struct flow_heap_entry){end, b->order, &b->slot});
    }
    if (many)
        flow_heap_build(&s->ends);
}

static int is_first_end_now(const struct flow_solver *s)
{
    return s->ending.len > 0 || (s->ends.len > 0 && s->ends.at[0].key <= s->now);
}

/* ---- bundles of flows ---- */

/* The flow is new, or belongs to another bundle from now on: it is placed before rates are
 * computed. */
static void unplace(struct flow_solver *s, struct flow *f)
{
    if (f->unplaced)
        return;
    flow_list_push(&s->unplaced, f);
    f->unplaced = s->unplaced.len;
}

/* Links are hops of the flow's bundle unless it is alone on them. */
static void place(struct flow_solver *s, struct flow *f)
{
    double left = f->bundle ? flow_bundle_quit(s, f) : f->target;

    for (uint32_t i = 0; i < f->leg_count; i++)
        f->legs[i].is_shared = f->legs[i].link->sole != f;
    flow_bundle_join(s, f, left);
    f->unplaced = 0;
}

static void place_all(struct flow_solver *s)
{
    for (uint32_t i = 0; i < s->unplaced.len; i++)
        place(s, s->unplaced.items[i]);
    s->unplaced.len = 0;
}

/* Computes the rates, if something has changed and no flow ends first. */
static void update(struct flow_solver *s)
{
    if (s->unplaced.len + s->dirty.len == 0 || is_first_end_now(s))
        return;
    place_all(s);
    if (s->fresh.len + s->dirty.len == 0)
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
    assert(s->ends.len == 0 || s->ends.at[0].key >= t);
    s->now = t;
}

/* ---- the interface ---- */

/* Adds a flow to its links. A flow that was alone on one of them now shares it. */
static void enter(struct flow_solver *s, struct flow *f, const uint32_t *links)
{
    for (uint32_t i = 0; i < f->leg_count; i++) {
        struct flow_link *l = flow_link_enter(s, links[i]);

        f->legs[i].link = l;
        if (l->load == 1) {
            l->sole = f;
            continue;
        }
        if (l->sole && l->sole->bundle)
            unplace(s, l->sole);
        l->sole = NULL;
    }
}

static int is_unlimited(const struct flow *f)
{
    for (uint32_t i = 0; i < f->leg_count; i++)
        if (f->legs[i].link->capacity < INFINITY)
            return 0;
    return f->own_limit == INFINITY;
}

struct flow *flow_start(struct flow_solver *s, vtime t, const uint32_t *links, unsigned n,
                        uint64_t bytes, double rate_limit, void *user)
{
    unsigned legs = bytes > 0 ? n : 0;
    struct flow *f;

    assert(n < FLOW_LINKS_MAX && rate_limit >= 0);
    advance(s, t);
    f = pool_alloc(&s->pool, flow_size(s, legs));
    pool_prefetch(&s->pool, flow_size(s, legs));
    *f = (struct flow){.leg_count = legs,
                       .order = s->count.started++,
                       .own_limit = rate_limit,
                       .target = (double)bytes,
                       .user = user};
    s->count.active++;
    if (s->meter)
        flow_meter_start(s, f, bytes);
    enter(s, f, links);
    if (bytes == 0 || is_unlimited(f))
        place(s, f); /* it ends now */
    else
        unplace(s, f);
    return f;
}

/* With a wider link, limits that had no effect before may apply to flows. */
static void unplace_users(struct flow_solver *s, const struct flow_link *l)
{
    for (uint32_t i = 0; i < l->use_count; i++)
        flow_bundle_list(l->uses[i].bundle, &s->changed);
    for (uint32_t i = 0; i < s->changed.len; i++)
        unplace(s, s->changed.items[i]);
    s->changed.len = 0;
}

void flow_capacity(struct flow_solver *s, vtime t, uint32_t link, double capacity)
{
    struct flow_link *l;

    assert(capacity >= 0);
    advance(s, t);
    l = flow_link_find(s, link);
    if (!l || l->capacity == capacity)
        return;
    if (capacity > l->capacity)
        unplace_users(s, l);
    l->capacity = capacity;
    if (l->use_count > 0)
        flow_link_dirty(s, l);
    else
        l->rest = capacity;
    if (l->sole && l->sole->bundle)
        unplace(s, l->sole);
}

vtime flow_next(struct flow_solver *s)
{
    update(s);
    if (s->ending.len > 0)
        return s->now;
    return s->ends.len > 0 ? s->ends.at[0].key : VTIME_NEVER;
}

/* Removes all flows that end now from their bundles; they are handed out in the order of their
 * starts. */
static void gather(struct flow_solver *s)
{
    while (s->ends.len > 0 && s->ends.at[0].key <= s->now) {
        struct flow *f = flow_bundle_of(s->ends.at[0].item)->first;

        flow_bundle_quit(s, f);
        flow_heap_set(&s->ending, &f->slot, 0, f->order);
    }
}

int flow_take(struct flow_solver *s, vtime *t, void **user)
{
    vtime end = flow_next(s);
    struct flow *f;

    if (end == VTIME_NEVER)
        return 0;
    s->now = end;
    gather(s);
    f = flow_of(flow_heap_take(&s->ending));
    *t = end;
    *user = f->user;
    if (s->meter)
        flow_meter_end(s, f);
    flow_free(s, f);
    return 1;
}

void flow_settle(struct flow_solver *s, vtime t)
{
    if (!s->meter)
        return;
    if (t > s->now)
        advance(s, t);
    for (uint32_t i = 0; i < s->ends.len; i++)
        flow_bundle_list(flow_bundle_of(s->ends.at[i].item), &s->changed);
    for (uint32_t i = 0; i < s->changed.len; i++)
        flow_meter_quit(s, s->changed.items[i]);
    s->changed.len = 0;
}
