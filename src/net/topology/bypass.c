/*
 * bypass.c - routes around links that are down.
 *
 * Called only if the route that the routing chose uses such a link. First it tries some of the
 * other shortest routes, then detours where they are short; that is cheap and spreads the load. If
 * none of them works, it searches the rest of the network, guided by the distances that the
 * topology computes (A*: Hart, Nilsson and Raphael, 1968). Among switches that look equally good it
 * takes the last one found first, so that on a large machine only the surroundings of the fault are
 * searched. The result depends only on the two switches and on what is down, not on earlier
 * queries, and is kept in a cache with a fixed number of slots.
 */
#include <string.h>

#include "base/array.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/units.h"
#include "net/topology/topology_internal.h"

#define TRIES 8
#define SLOTS 1024 /* of the cache */
#define NO_ROUTE UINT32_MAX

struct bypass {
    uint32_t a, b, epoch;
    uint32_t count;  /* NO_ROUTE: there is none */
    uint32_t *links; /* NULL: the slot is free */
};

struct topo_bypasses {
    struct topo_route scratch;
    struct bypass *slots; /* NULL until the first is needed */
};

struct topo_bypasses *topo_bypasses_create(void)
{
    return mem_zalloc(sizeof(struct topo_bypasses));
}

void topo_bypasses_destroy(struct topo_bypasses *bypasses)
{
    for (uint32_t i = 0; bypasses->slots && i < SLOTS; i++)
        mem_free(bypasses->slots[i].links);
    mem_free(bypasses->slots);
    topo_route_fini(&bypasses->scratch);
    mem_free(bypasses);
}

struct topo_route *topo_bypasses_scratch(const struct topo *t)
{
    return &t->bypasses->scratch;
}

/* ---- search ---- */

/* Switches to expand whose route would have a certain length. */
struct bucket {
    uint64_t *items; /* length so far << 32 | switch */
    uint32_t count, room;
};

struct search {
    const struct topo *topo;
    vtime at;
    uint32_t b;
    struct map seen; /* switch -> length so far << 32 | link by which it was reached */
    struct bucket *buckets;
    uint32_t count, current; /* of buckets; the first that may have items */
    uint32_t least;          /* length that bucket 0 stands for */
};

static void put(struct search *s, uint32_t bucket, uint64_t item)
{
    while (bucket >= s->count) {
        ARRAY_EXTEND(s->buckets, s->count);
        memset(&s->buckets[s->count++], 0, sizeof *s->buckets);
    }
    struct bucket *x = &s->buckets[bucket];
    ARRAY_RESERVE(x->items, x->room, x->count + 1, 32);
    x->items[x->count++] = item;
}

/* A switch can be reached through a link, with that many links in all. */
static void reach(struct search *s, uint32_t sw, uint32_t link, uint32_t length)
{
    struct topo_hops left = {0, 0};
    if (sw != s->b)
        left = s->topo->ops->hops(s->topo, sw, s->b);
    if (left.local == UINT32_MAX)
        return;
    int is_new;
    uint64_t *seen = map_insert(&s->seen, sw, &is_new);
    if (!is_new && (uint32_t)(*seen >> 32) <= length)
        return;
    *seen = (uint64_t)length << 32 | link;
    uint32_t total = length + left.local + left.global;
    uint32_t bucket = total > s->least ? total - s->least : 0;
    put(s, bucket > s->current ? bucket : s->current, (uint64_t)length << 32 | sw);
}

static void expand(struct search *s, uint32_t sw, uint32_t length)
{
    const struct topo *t = s->topo;
    uint32_t n = t->ops->degree(t, sw);
    for (uint32_t i = n; i-- > 0;) { /* the first goes on top */
        struct topo_port port = t->ops->port(t, sw, i);
        if (!topo_is_down(t, 2 * t->nodes + port.link, s->at))
            reach(s, port.peer, port.link, length + 1);
    }
}

/* 1: b was reached. */
static int run(struct search *s, uint32_t a)
{
    struct topo_hops hops = s->topo->ops->hops(s->topo, a, s->b);
    s->least = hops.local == UINT32_MAX ? 0 : hops.local + hops.global;
    reach(s, a, 0, 0);
    while (s->current < s->count) {
        struct bucket *x = &s->buckets[s->current];
        if (x->count == 0) {
            s->current++;
            continue;
        }
        uint64_t item = x->items[--x->count];
        uint32_t sw = (uint32_t)item, length = (uint32_t)(item >> 32);
        if (sw == s->b)
            return 1;
        if ((uint32_t)(*map_find(&s->seen, sw) >> 32) == length)
            expand(s, sw, length);
    }
    return 0;
}

/* Follows the links back from b. */
static void trace_back(struct search *s, uint32_t a, struct bypass *bypass)
{
    uint32_t sw = s->b;
    bypass->count = (uint32_t)(*map_find(&s->seen, sw) >> 32);
    bypass->links = mem_alloc(bypass->count * sizeof *bypass->links);
    for (uint32_t i = bypass->count; i-- > 0 && sw != a;) {
        uint32_t link = (uint32_t)*map_find(&s->seen, sw);
        bypass->links[i] = link;
        sw = s->topo->ops->ends(s->topo, link).from;
    }
}

static void search(const struct topo *t, uint32_t a, uint32_t b, vtime at, struct bypass *bypass)
{
    struct search s = {.topo = t, .at = at, .b = b};
    map_init(&s.seen);
    if (run(&s, a)) {
        trace_back(&s, a, bypass);
    } else {
        bypass->count = NO_ROUTE;
        bypass->links = mem_alloc(1);
    }
    for (uint32_t i = 0; i < s.count; i++)
        mem_free(s.buckets[i].items);
    mem_free(s.buckets);
    map_fini(&s.seen);
}

static const struct bypass *find_bypass(const struct topo *t, uint32_t a, uint32_t b, vtime at)
{
    struct topo_bypasses *bypasses = t->bypasses;
    uint32_t epoch = topo_changes_epoch(t, at);
    if (!bypasses->slots)
        bypasses->slots = mem_zalloc(SLOTS * sizeof *bypasses->slots);
    struct bypass *bypass = &bypasses->slots[topo_hash(a, b, epoch) % SLOTS];
    if (!bypass->links || bypass->a != a || bypass->b != b || bypass->epoch != epoch) {
        mem_free(bypass->links);
        *bypass = (struct bypass){.a = a, .b = b, .epoch = epoch};
        search(t, a, b, at, bypass);
    }
    return bypass;
}

/* ---- the result ---- */

static int whole(const struct topo *t, const struct topo_route *r, vtime at)
{
    for (uint32_t i = 0; i < r->count; i++)
        if (topo_is_down(t, r->links[i], at))
            return 0;
    return 1;
}

static int try_others(const struct topo *t, const struct topo_trip *trip, vtime at,
                      struct topo_route *out)
{
    uint32_t tries = t->ops->near_detours ? 2 * TRIES : TRIES;
    for (uint32_t k = 0; k < tries; k++) {
        uint64_t random = topo_hash(trip->src, trip->dst, k);
        out->count = 1;
        int found = k < TRIES ? t->ops->minimal(t, trip->a, trip->b, random, out)
                              : topo_choose_detour(t, trip, random, out);
        if (found && whole(t, out, at))
            return 1;
    }
    out->count = 1;
    return 0;
}

static int no_route(const struct topo_trip *trip, vtime at, const char *why, struct err *err)
{
    char when[UNITS_TEXT_MAX];
    return err_set(err, ERR_INPUT, "net.links: no route from n%u to n%u at %s: %s", trip->src,
                   trip->dst, units_format_time(when, sizeof when, at), why);
}

int topo_bypass(const struct topo *t, const struct topo_trip *trip, vtime at,
                struct topo_route *out, struct err *err)
{
    if (topo_is_down(t, trip->src, at) || topo_is_down(t, t->nodes + trip->dst, at))
        return no_route(trip, at, "a node's link is down", err);
    if (!try_others(t, trip, at, out)) {
        const struct bypass *bypass = find_bypass(t, trip->a, trip->b, at);
        if (bypass->count == NO_ROUTE)
            return no_route(trip, at, "all routes use links that are down", err);
        for (uint32_t i = 0; i < bypass->count; i++)
            topo_push_cable(t, out, bypass->links[i]);
    }
    topo_push(out, t->nodes + trip->dst);
    return 0;
}
