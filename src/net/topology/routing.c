/*
 * routing.c - the table of routings, and the route of a message: the node's link, the links that
 * the routing chooses between switches, the other node's link. If that uses a link that is down,
 * bypass.c finds another route. A new routing is one file with a struct topo_routing_ops and one
 * line here.
 */
#include <assert.h>
#include <string.h>

#include "base/array.h"
#include "base/mem.h"
#include "net/topology/topology_internal.h"

static const struct topo_routing_ops *const routings[] = {
    &topo_minimal_ops, &topo_dmodk_ops, &topo_ecmp_ops, &topo_valiant_ops, &topo_adaptive_ops,
};
#define ROUTINGS (sizeof routings / sizeof routings[0])

const char *topo_routing_name(unsigned i)
{
    return i < ROUTINGS ? routings[i]->name : NULL;
}

const struct topo_routing_ops *topo_routing_find(const char *name)
{
    for (size_t i = 0; i < ROUTINGS; i++)
        if (strcmp(routings[i]->name, name) == 0)
            return routings[i];
    return NULL;
}

int topo_routes_vary(const struct topo *t)
{
    return t->routing->varies;
}

void topo_route_grow(struct topo_route *r)
{
    ARRAY_RESERVE(r->links, r->room, r->room + 1, 16);
}

void topo_route_fini(struct topo_route *r)
{
    mem_free(r->links);
    memset(r, 0, sizeof *r);
}

int topo_choose_detour(const struct topo *t, const struct topo_trip *trip, uint64_t random,
                       struct topo_route *out)
{
    uint64_t choice = topo_mix(random);
    uint32_t via = t->ops->detour ? t->ops->detour(t, trip->a, trip->b, random) : trip->a;
    uint32_t before = out->count;
    if (via != trip->a && via != trip->b) {
        if (t->ops->minimal(t, trip->a, via, choice, out) &&
            t->ops->minimal(t, via, trip->b, topo_mix(choice), out))
            return 1;
        out->count = before; /* in a graph: no route there, or back */
    }
    return t->ops->minimal(t, trip->a, trip->b, choice, out);
}

static int has_down(const struct topo *t, const struct topo_route *r, vtime at)
{
    for (uint32_t i = 0; i < r->count; i++)
        if (topo_is_down(t, r->links[i], at))
            return 1;
    return 0;
}

static int route_by(const struct topo *t, const struct topo_routing_ops *routing,
                    struct topo_trip *trip, vtime at, struct topo_route *out, struct err *err)
{
    assert(trip->src != trip->dst && trip->src < t->nodes && trip->dst < t->nodes);
    trip->a = topo_switch_of(t, trip->src);
    trip->b = topo_switch_of(t, trip->dst);
    out->count = 0;
    topo_push(out, trip->src);
    int found = trip->a == trip->b || routing->choose(t, trip, out);
    topo_push(out, t->nodes + trip->dst);
    if (__builtin_expect(!found, 0))
        return err_set(err, ERR_INPUT, "no route from n%u to n%u in the topology", trip->src,
                       trip->dst);
    if (__builtin_expect(topo_changes_any_down(t), 0) && has_down(t, out, at))
        return topo_bypass(t, trip, at, out, err);
    return 0;
}

int topo_route(const struct topo *t, uint32_t src, uint32_t dst, uint64_t salt, vtime at,
               const struct topo_load *load, struct topo_route *out, struct err *err)
{
    struct topo_trip trip = {.src = src, .dst = dst, .salt = salt, .load = load};
    return route_by(t, t->routing, &trip, at, out, err);
}

int topo_route_minimal(const struct topo *t, uint32_t src, uint32_t dst, vtime at,
                       struct topo_route *out, struct err *err)
{
    struct topo_trip trip = {.src = src, .dst = dst};
    return route_by(t, &topo_minimal_ops, &trip, at, out, err);
}
