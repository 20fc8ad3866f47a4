/*
 * topology.c - the table of topologies, and what they have in common: nodes and their links, names,
 * sizes.
 *
 * A new topology is one file with a struct topo_ops and one line here.
 */
#include "net/topology/topology.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/nearest.h"
#include "net/topology/topology_internal.h"

static const struct topo_ops *const kinds[] = {
    &topo_switch_ops, &topo_star_ops,      &topo_torus_ops, &topo_mesh_ops,
    &topo_tree_ops,   &topo_dragonfly_ops, &topo_cube_ops,  &topo_graph_ops,
};
#define KINDS (sizeof kinds / sizeof kinds[0])

const char *topo_kind_name(unsigned i)
{
    return i < KINDS ? kinds[i]->name : NULL;
}

const char *const *topo_kind_uses(unsigned i)
{
    return i < KINDS ? kinds[i]->uses : NULL;
}

int topo_unknown(const char *setting, const char *given, const char *(*name)(unsigned),
                 struct err *err)
{
    struct nearest nearest = {.word = given};
    char list[200] = "";
    for (unsigned i = 0; name(i); i++) {
        size_t used = strlen(list);
        nearest_offer(&nearest, name(i));
        snprintf(list + used, sizeof list - used, "%s%s", i ? ", " : "", name(i));
    }
    if (nearest.best)
        return err_set(err, ERR_INPUT, "%s: unknown name '%s': did you mean '%s'?", setting, given,
                       nearest.best);
    return err_set(err, ERR_INPUT, "%s: unknown name '%s': expected one of: %s", setting, given,
                   list);
}

/* ---- sizes ---- */

const char *topo_shape(char *out, const struct platform_dims *dims)
{
    size_t used = 0;
    out[0] = 0;
    for (uint32_t d = 0; d < dims->count; d++)
        used += (size_t)snprintf(out + used, TOPO_SHAPE_MAX - used, "%s%u", d ? "x" : "",
                                 dims->size[d]);
    return out;
}

uint32_t topo_root(uint64_t x, uint32_t n)
{
    uint32_t k = 1;
    for (;; k++) {
        unsigned __int128 power = 1;
        for (uint32_t i = 0; i < n && power < x; i++)
            power *= k;
        if (power >= x)
            return k;
        if (n == 1)
            return (uint32_t)x;
    }
}

int topo_set_size(struct topo *t, uint64_t switches, uint64_t nodes, uint64_t cables,
                  uint32_t needed, const char *setting, const char *shape, struct err *err)
{
    if (switches > UINT32_MAX || nodes > UINT32_MAX || nodes + switches > UINT32_MAX ||
        cables > UINT32_MAX || 2 * nodes + cables > UINT32_MAX)
        return err_set(err, ERR_INPUT, "%s: '%s' is too large: more than 2^32 links", setting,
                       shape);
    if (nodes < needed)
        return err_set(err, ERR_INPUT, "%s: '%s' has room for %llu nodes: %u are needed", setting,
                       shape, (unsigned long long)nodes, needed);
    t->switches = (uint32_t)switches;
    t->nodes = (uint32_t)nodes;
    t->cables = cables;
    return 0;
}

/* ---- creation ---- */

static void set_links(struct topo *t, const struct platform_config *c)
{
    double local = c->topo_bandwidth > 0 ? c->topo_bandwidth : c->net_bandwidth;
    t->bandwidth[TOPO_UP] = t->bandwidth[TOPO_DOWN] = c->net_bandwidth;
    t->bandwidth[TOPO_LOCAL] = local;
    t->bandwidth[TOPO_GLOBAL] = c->topo_global_bandwidth > 0 ? c->topo_global_bandwidth : local;
    t->latency[TOPO_UP] = t->latency[TOPO_LOCAL] = c->net_hop_latency;
    t->latency[TOPO_DOWN] = 0;
    t->latency[TOPO_GLOBAL] = vtime_add(c->net_hop_latency, c->topo_global_latency);
    t->error_rate = c->packet_error_rate;
    t->mtu = topo_mtu(c->packet_mtu);
}

static int set_names(struct topo *t, const struct platform_config *c, struct err *err)
{
    for (size_t i = 0; i < KINDS; i++)
        if (strcmp(kinds[i]->name, c->topo_kind) == 0)
            t->ops = kinds[i];
    if (!t->ops)
        return topo_unknown("net.topology.kind", c->topo_kind, topo_kind_name, err);
    t->routing = topo_routing_find(c->net_routing);
    if (!t->routing)
        return topo_unknown("net.routing", c->net_routing, topo_routing_name, err);
    return 0;
}

int topo_create(struct topo **out, const struct platform *p, uint32_t nodes, struct err *err)
{
    struct topo *t = mem_zalloc(sizeof *t);
    int e = set_names(t, &p->config, err);
    if (e)
        goto free_topo;
    set_links(t, &p->config);
    t->bypasses = topo_bypasses_create();
    if ((e = t->ops->init(t, p, nodes ? nodes : 1, err)))
        goto fini_ops;
    if ((e = topo_changes_init(t, p, err)))
        goto fini_ops;
    *out = t;
    return 0;

fini_ops:
    if (t->ops->fini)
        t->ops->fini(t);
    topo_bypasses_destroy(t->bypasses);
free_topo:
    mem_free(t);
    return e;
}

void topo_destroy(struct topo *t)
{
    if (!t)
        return;
    topo_changes_fini(t);
    if (t->ops->fini)
        t->ops->fini(t);
    topo_bypasses_destroy(t->bypasses);
    mem_free(t);
}

uint32_t topo_nodes(const struct topo *t)
{
    return t->nodes;
}

uint32_t topo_vertices(const struct topo *t)
{
    return t->nodes + t->switches;
}

uint64_t topo_links(const struct topo *t)
{
    return 2 * (uint64_t)t->nodes + t->used;
}

uint32_t topo_link_bound(const struct topo *t)
{
    return (uint32_t)(2 * (uint64_t)t->nodes + t->cables);
}

/* ---- neighbours ---- */

static uint32_t nodes_at(const struct topo *t, uint32_t s)
{
    const uint32_t *nodes;
    if (!t->per_switch)
        return topo_graph_nodes_at(t, s, &nodes);
    uint64_t first = (uint64_t)s * t->per_switch;
    if (first >= t->nodes)
        return 0;
    return t->nodes - first < t->per_switch ? (uint32_t)(t->nodes - first) : t->per_switch;
}

/* The links between switches come first. */
uint32_t topo_degree(const struct topo *t, uint32_t vertex)
{
    if (vertex < t->nodes)
        return 1;
    return t->ops->degree(t, vertex - t->nodes) + nodes_at(t, vertex - t->nodes);
}

struct topo_port topo_port_at(const struct topo *t, uint32_t vertex, uint32_t i)
{
    if (vertex < t->nodes)
        return (struct topo_port){t->nodes + topo_switch_of(t, vertex), vertex};
    uint32_t s = vertex - t->nodes, cables = t->ops->degree(t, s);
    if (i < cables) {
        struct topo_port port = t->ops->port(t, s, i);
        return (struct topo_port){t->nodes + port.peer, 2 * t->nodes + port.link};
    }
    const uint32_t *nodes;
    uint32_t node = s * t->per_switch + (i - cables);
    if (!t->per_switch && topo_graph_nodes_at(t, s, &nodes))
        node = nodes[i - cables];
    return (struct topo_port){node, t->nodes + node};
}

void topo_link_nominal(const struct topo *t, uint32_t link, struct topo_link *out)
{
    enum topo_class class = TOPO_UP;
    if (!t->per_switch) {
        topo_graph_link(t, link, out);
        return;
    }
    if (link < t->nodes) {
        out->from = link;
        out->to = t->nodes + topo_switch_of(t, link);
    } else if (link < 2 * t->nodes) {
        class = TOPO_DOWN;
        out->from = t->nodes + topo_switch_of(t, link - t->nodes);
        out->to = link - t->nodes;
    } else {
        struct topo_ends ends = t->ops->ends(t, link - 2 * t->nodes);
        class = ends.class;
        out->from = t->nodes + ends.from;
        out->to = t->nodes + ends.to;
    }
    out->bandwidth = t->bandwidth[class];
    out->latency = t->latency[class];
    out->error_rate = t->error_rate;
    out->mtu = t->mtu;
}

/* ---- distances ---- */

static vtime sum_of_links(const struct topo *t, const struct topo_route *r, vtime at)
{
    vtime sum = 0;
    for (uint32_t i = 0; i < r->count; i++) {
        struct topo_link link;
        topo_link_at(t, r->links[i], at, &link);
        sum = vtime_add(sum, link.latency);
    }
    return sum;
}

vtime topo_distance(const struct topo *t, uint32_t src, uint32_t dst)
{
    uint32_t a = topo_switch_of(t, src), b = topo_switch_of(t, dst);
    if (src == dst)
        return 0;
    if (topo_changes_at_start(t)) {
        struct topo_route *r = topo_bypasses_scratch(t);
        return topo_route_minimal(t, src, dst, 0, r, NULL) ? VTIME_NEVER : sum_of_links(t, r, 0);
    }
    if (!t->per_switch)
        return topo_graph_distance(t, src, dst);
    struct topo_hops hops = a == b ? (struct topo_hops){0, 0} : t->ops->hops(t, a, b);
    vtime sum = t->latency[TOPO_UP] + t->latency[TOPO_DOWN];
    sum = vtime_add(sum, vtime_add((vtime)hops.local * t->latency[TOPO_LOCAL],
                                   (vtime)hops.global * t->latency[TOPO_GLOBAL]));
    return sum;
}

/* A route between nodes at different switches has at least one link between switches. */
vtime topo_least_latency(const struct topo *t)
{
    vtime least = vtime_add(topo_changes_least(t, TOPO_UP, t->latency[TOPO_UP]),
                            topo_changes_least(t, TOPO_DOWN, t->latency[TOPO_DOWN]));
    if (t->per_switch != 1 && !t->alone)
        return least;
    return vtime_add(least, topo_changes_least(t, TOPO_LOCAL, t->latency[TOPO_LOCAL]));
}

/* ---- drawing ---- */

void topo_position(const struct topo *t, uint32_t vertex, double *x, double *y)
{
    if (vertex >= t->nodes) {
        t->ops->position(t, vertex - t->nodes, x, y);
        return;
    }
    if (t->ops->node_position) {
        t->ops->node_position(t, vertex, x, y);
        return;
    }
    uint32_t s = topo_switch_of(t, vertex), n = nodes_at(t, s);
    double angle = 2 * M_PI * (vertex - s * t->per_switch) / n + M_PI * 0.75;
    double radius = t->switches == 1 ? 0.42 : 0.3 / sqrt(t->switches);
    t->ops->position(t, s, x, y);
    *x += radius * sin(angle);
    *y -= radius * cos(angle);
}
