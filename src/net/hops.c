/*
 * hops.c - the hops model: latency and bandwidth depend on the route through the topology; no
 * contention.
 *
 *     delay(bytes) = net.latency + latencies of the links of the route + bytes / narrowest link
 *
 * The route is a shortest one, always the same for two nodes. Where no link can be narrower than
 * the node's own, and none changes (net.links), only the length of the route is needed, which
 * regular topologies know without listing it. Within a node net.intra applies, as in the other
 * models.
 */
#include <math.h>

#include "base/bins.h"
#include "base/log.h"
#include "base/mem.h"
#include "net/net_internal.h"
#include "net/topology/topology.h"

struct hops {
    int listed;              /* routes must be listed */
    struct topo_route route; /* the last one */
};

static int hops_init(struct net *net, const struct platform *machine, struct err *err)
{
    const struct platform_config *c = &machine->config;
    struct hops *s;
    int rc = topo_create(&net->topo, machine, net->nodes.count, err);

    if (rc)
        return rc;
    s = mem_zalloc(sizeof *s);
    s->listed = machine->lists[PLATFORM_LINKS].count || machine->lists[PLATFORM_EDGES].count ||
                (c->topo_bandwidth && c->topo_bandwidth < c->net_bandwidth) ||
                (c->topo_global_bandwidth && c->topo_global_bandwidth < c->net_bandwidth);
    net->state = s;
    net->drain_varies = s->listed;
    net->lookahead = net_least_delay(net, vtime_scale(topo_least_latency(net->topo),
                                                      net->latency_factor));
    return 0;
}

static void hops_fini(struct net *net)
{
    struct hops *s = net->state;

    topo_route_fini(&s->route);
    mem_free(s);
    topo_destroy(net->topo);
}

/* Latency and inverse bandwidth of the route taken at time t. */
static vtime list_route(const struct net *net, uint32_t src, uint32_t dst, vtime t,
                        uint64_t *inverse)
{
    struct hops *s = net->state;
    double narrowest = INFINITY;
    vtime latency = 0;
    struct err err;

    if (topo_route_minimal(net->topo, src, dst, t, &s->route, &err))
        log_fatal_input("%s", err.text);
    for (uint32_t i = 0; i < s->route.count; i++) {
        struct topo_link link;

        topo_link_at(net->topo, s->route.links[i], t, &link);
        latency = vtime_add(latency, link.latency);
        if (link.bandwidth < narrowest)
            narrowest = link.bandwidth;
    }
    if (net_inverse(narrowest * net->bandwidth_factor, "net.links", inverse, &err))
        log_fatal_input("%s", err.text);
    return latency;
}

/* The time that bytes take, where the narrowest link allows it. */
static vtime transfer_time(const struct net_piece *p, uint64_t bytes, uint64_t narrow)
{
    return vtime_mul_q(bytes, narrow > p->ps_per_byte ? narrow : p->ps_per_byte);
}

/* Latency, and the time that the bytes take. */
static vtime find(const struct net *net, uint32_t src, uint32_t dst, uint64_t bytes, vtime t,
                  vtime *transfer)
{
    const struct hops *s = net->state;
    uint32_t a = net_node(net, src), b = net_node(net, dst);
    const struct net_piece *p = net_curve_at(a == b ? &net->intra : &net->inter, bytes);
    uint64_t narrow = 0;
    vtime links = 0;

    if (a != b)
        links = s->listed ? list_route(net, a, b, t, &narrow) : topo_distance(net->topo, a, b);
    *transfer = transfer_time(p, bytes, narrow);
    return vtime_add(p->latency, vtime_scale(links, net->latency_factor));
}

static vtime hops_delay(const struct net *net, uint32_t src, uint32_t dst, uint64_t bytes, vtime t)
{
    vtime transfer, latency = find(net, src, dst, bytes, t, &transfer);

    return vtime_add(latency, transfer);
}

static vtime hops_drain(const struct net *net, uint32_t src, uint32_t dst, uint64_t bytes, vtime t)
{
    const struct hops *s = net->state;
    vtime transfer;

    if (!s->listed)
        return transfer_time(net_curve_at(net_curve(net, src, dst), bytes), bytes, 0);
    find(net, src, dst, bytes, t, &transfer);
    return transfer;
}

/* ---- what links carry ---- */

/* A message is on all links of its route at once, as in the flow model, while its bytes leave. */
static void count(struct net *net, const struct engine_msg *m, const struct device_send *how)
{
    struct hops *s = net->state;
    uint32_t src = net_node(net, m->src), dst = net_node(net, m->dst);
    uint64_t narrow = 0;
    vtime transfer;
    struct err err;

    if (src == dst || how->bytes == 0)
        return;
    if (s->listed)
        list_route(net, src, dst, how->t, &narrow);
    else if (topo_route_minimal(net->topo, src, dst, how->t, &s->route, &err))
        log_fatal_input("%s", err.text);
    transfer = transfer_time(net_curve_at(&net->inter, how->bytes), how->bytes, narrow);
    bins_add_all(net->load, s->route.links, s->route.count, (uint64_t)how->t,
                 (uint64_t)vtime_add(how->t, transfer), how->bytes);
}

static struct device_sent counted_send(struct device *d, struct engine_msg *m,
                                       const struct device_send *how)
{
    count(d->owner, m, how);
    return device_formula_send(d, m, how);
}

static const struct device_ops counted_ops = {.name = "formula", .send = counted_send};

static void hops_meter(struct net *net)
{
    net->device = &counted_ops;
}

static const char *const uses[] = {
    "net.hop_latency",    "net.links", "net.topology.*", "net.intra.latency", "net.intra.bandwidth",
    "net.intra.segments", NULL,
};

const struct net_ops net_hops_ops = {
    .name = "hops",
    .uses = uses,
    .instead = "flow",
    .split = NET_SPLIT_FREE,
    .device = &device_formula_ops,
    .init = hops_init,
    .fini = hops_fini,
    .delay = hops_delay,
    .drain = hops_drain,
    .meter = hops_meter,
};
