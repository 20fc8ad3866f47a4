/*
 * flow_bundle.c - bundles of flows that always have the same rate (see flow_internal.h).
 *
 * The bundle for a flow is looked up by what its flows have in common, a limit and a list of links,
 * among the most recent bundles on one of the links. If it is missed, there will be two equal
 * bundles, which does no harm. A flow without contention has its own bundle, on no link; its rate
 * is its limit from the start.
 *
 * Invariants: a bundle is in the heap of ends exactly if it has a rate; `first` ends first; the
 * weight of its uses is the bundle's weight, except on its private link, whose capacity is that of
 * one flow.
 */
#include <assert.h>
#include <math.h>

#include "net/flow_internal.h"

#define LOOKS 8 /* uses of a link to search for a bundle */

/* ---- the heap of its flows: a pairing heap ---- */

static int is_before(const struct flow *a, const struct flow *b)
{
    return a->target < b->target || (a->target == b->target && a->order < b->order);
}

/* Merges two heaps, neither of them NULL. */
static struct flow *meld(struct flow *a, struct flow *b)
{
    if (is_before(b, a)) {
        struct flow *t = a;

        a = b;
        b = t;
    }
    b->prev = a;
    b->next = a->child;
    if (a->child)
        a->child->prev = b;
    a->child = b;
    a->prev = a->next = NULL;
    return a;
}

/* Merges siblings into one heap: in pairs, then all pairs from the last. */
static struct flow *meld_all(struct flow *list)
{
    struct flow *pairs = NULL, *all = NULL;

    while (list) {
        struct flow *a = list, *b = a->next;

        list = b ? b->next : NULL;
        a = b ? meld(a, b) : a;
        a->next = pairs;
        pairs = a;
    }
    while (pairs) {
        struct flow *rest = pairs->next;

        pairs->next = pairs->prev = NULL;
        all = all ? meld(all, pairs) : pairs;
        pairs = rest;
    }
    return all;
}

static void heap_remove(struct flow_bundle *b, struct flow *f)
{
    struct flow *kids = meld_all(f->child);

    f->child = NULL;
    if (b->first == f) {
        b->first = kids;
        return;
    }
    *(f->prev->child == f ? &f->prev->child : &f->prev->next) = f->next;
    if (f->next)
        f->next->prev = f->prev;
    if (kids)
        b->first = meld(b->first, kids);
}

/* ---- time ---- */

/* When that flow of it ends, if the rate stays. */
static vtime end_of(const struct flow_bundle *b, const struct flow *f)
{
    double left = f->target - b->served;

    if (!(b->rate < INFINITY) || !(left > 0))
        return b->since;
    return b->rate > 0 ? vtime_add(b->since, vtime_from_ps_double(left / b->rate)) : VTIME_NEVER;
}

vtime flow_bundle_end(const struct flow_bundle *b)
{
    return end_of(b, b->first);
}

double flow_bundle_served(const struct flow_bundle *b, vtime now)
{
    return now > b->since ? b->served + b->rate * (double)(now - b->since) : b->served;
}

void flow_bundle_list(const struct flow_bundle *b, struct flow_list *list)
{
    uint32_t at = list->len;

    for (flow_list_push(list, b->first); at < list->len; at++) {
        const struct flow *f = list->items[at];

        if (f->child)
            flow_list_push(list, f->child);
        if (f->next)
            flow_list_push(list, f->next);
    }
}

void flow_bundle_turn(struct flow_bundle *b, vtime now)
{
    b->served = flow_bundle_served(b, now);
    b->since = now;
    b->rate = b->next_rate;
}

static void renew_end(struct flow_solver *s, struct flow_bundle *b)
{
    flow_heap_set(&s->ends, &b->slot, flow_bundle_end(b), b->order);
}

/* ---- joining and leaving ---- */

static size_t size_of(const struct flow_solver *s, unsigned hops)
{
    return sizeof(struct flow_bundle) + hops * sizeof(struct flow_hop) +
           (s->meter ? sizeof(struct flow_history) : 0);
}

static struct flow_bundle *bundle_new(struct flow_solver *s, unsigned hops, double limit)
{
    struct flow_bundle *b = pool_alloc(&s->pool, size_of(s, hops));

    *b = (struct flow_bundle){.hop_count = hops,
                              .limit = limit,
                              .since = s->now,
                              .order = s->bundle_count++};
    if (s->meter)
        flow_meter_begin(b);
    return b;
}

static void fresh_remove(struct flow_solver *s, struct flow_bundle *b)
{
    struct flow_bundle *last = s->fresh.items[--s->fresh.len];

    s->fresh.items[b->fresh - 1] = last;
    last->fresh = b->fresh;
    b->fresh = 0;
}

static void bundle_free(struct flow_solver *s, struct flow_bundle *b)
{
    if (b->fresh)
        fresh_remove(s, b);
    if (b->slot.at)
        flow_heap_drop(&s->ends, &b->slot);
    flow_link_unuse(s, b);
    if (s->meter)
        flow_meter_forget(b);
    pool_free(&s->pool, b, size_of(s, b->hop_count));
}

/* ---- finding the bundle ---- */

static int is_same(const struct flow_bundle *b, const struct flow *f, double limit, unsigned hops)
{
    unsigned at = 0;

    if (b->limit != limit || b->hop_count != hops)
        return 0;
    for (uint32_t i = 0; i < f->leg_count; i++)
        if (f->legs[i].is_shared && b->hops[at++].link != f->legs[i].link)
            return 0;
    return 1;
}

static struct flow_bundle *bundle_make(struct flow_solver *s, const struct flow *f, double limit,
                                       unsigned hops)
{
    struct flow_bundle *b = bundle_new(s, hops, limit);
    unsigned at = 0;

    for (uint32_t i = 0; i < f->leg_count; i++)
        if (f->legs[i].is_shared)
            flow_link_use(s, b, at++, f->legs[i].link);
    if (limit < INFINITY)
        flow_link_use_private(s, b, at);
    flow_list_push(&s->fresh, b);
    b->fresh = s->fresh.len;
    return b;
}

/* A bundle for the flow: an existing one, if it is among the most recent on the link with the
 * fewest uses. */
static struct flow_bundle *bundle_find(struct flow_solver *s, const struct flow *f, double limit,
                                       unsigned hops, const struct flow_link *l)
{
    for (uint32_t i = 0; i < LOOKS && i < l->use_count; i++) {
        struct flow_bundle *b = l->uses[l->use_count - 1 - i].bundle;

        if (is_same(b, f, limit, hops))
            return b;
    }
    return bundle_make(s, f, limit, hops);
}

/* What is known about a flow's links. */
struct legs {
    unsigned shared;      /* how many it shares with others */
    double least;         /* the smallest capacity of those */
    double limit;         /* and of the unshared ones: the flow's own limit */
    struct flow_link *at; /* the shared link with the fewest uses */
};

/* A limit that is at least the whole capacity of a shared link has no effect. */
static struct legs look_at(const struct flow *f)
{
    struct legs found = {.least = INFINITY, .limit = f->own_limit};

    for (uint32_t i = 0; i < f->leg_count; i++) {
        struct flow_link *l = f->legs[i].link;
        double *least = f->legs[i].is_shared ? &found.least : &found.limit;

        *least = l->capacity < *least ? l->capacity : *least;
        if (!f->legs[i].is_shared)
            continue;
        found.shared++;
        if (!found.at || l->use_count < found.at->use_count)
            found.at = l;
    }
    if (found.shared > 0 && found.limit >= found.least)
        found.limit = INFINITY;
    return found;
}

void flow_bundle_join(struct flow_solver *s, struct flow *f, double left)
{
    struct legs legs = look_at(f);
    struct flow_bundle *b;

    if (legs.shared == 0 || (legs.least == INFINITY && legs.limit == INFINITY)) {
        b = bundle_new(s, 0, legs.limit);
        b->is_alone = 1;
        b->rate = legs.limit;
    } else {
        b = bundle_find(s, f, legs.limit, legs.shared + (legs.limit < INFINITY), legs.at);
    }
    f->bundle = b;
    f->target = flow_bundle_served(b, s->now) + left;
    f->child = f->next = f->prev = NULL;
    b->first = b->first ? meld(b->first, f) : f;
    b->weight++;
    if (s->meter)
        flow_meter_join(s, f, left);
    flow_link_weigh(s, b, 1);
    if (b->is_alone || (b->slot.at && b->first == f))
        renew_end(s, b);
}

double flow_bundle_quit(struct flow_solver *s, struct flow *f)
{
    struct flow_bundle *b = f->bundle;
    double left = b->rate < INFINITY ? f->target - flow_bundle_served(b, s->now) : 0;
    int was_first = b->first == f;

    if (s->meter)
        flow_meter_quit(s, f);
    heap_remove(b, f);
    f->bundle = NULL;
    if (--b->weight == 0) {
        bundle_free(s, b);
    } else {
        flow_link_weigh(s, b, -1);
        if (was_first && b->slot.at)
            renew_end(s, b);
    }
    return left > 0 ? left : 0;
}
