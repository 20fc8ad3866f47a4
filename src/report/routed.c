/*
 * routed.c - messages on links.
 */
#include "report/routed.h"

#include "analysis/links.h"
#include "base/array.h"
#include "base/mem.h"
#include "net/links.h"

/* ---- while messages come ---- */

void routed_take(void *routed, uint32_t from, uint32_t to, uint64_t bytes, int64_t sent,
                 int64_t received)
{
    struct routed *r = routed;
    int64_t source = r->nodes[from], target = r->nodes[to];
    if (source == target || !bytes || r->err.code)
        return;
    if (topo_route(r->topo, (uint32_t)source, (uint32_t)target, r->salt++, 0, NULL, &r->route,
                   &r->err) != 0)
        return;
    sent = sent > r->begin ? sent - r->begin : 0;
    received = received > r->begin + sent ? received - r->begin : sent;
    bins_add_all(&r->load, r->route.links, r->route.count, (uint64_t)sent, (uint64_t)received,
                 bytes);
}

/* ---- beginning and end ---- */

static int64_t take_nodes(struct routed *r, const struct trace *t)
{
    int64_t most = 0;
    r->nodes = mem_alloc((t->header.ranks + 1) * sizeof *r->nodes);
    for (uint64_t i = 0; i < t->header.ranks; i++) {
        r->nodes[i] = t->definitions.nodes ? t->definitions.nodes[i] : (int64_t)i;
        most = r->nodes[i] > most ? r->nodes[i] : most;
    }
    return most;
}

int routed_init(struct routed *r, const struct trace *t, const struct platform *machine,
                struct err *err)
{
    *r = (struct routed){.machine = machine, .tick = (double)t->header.tick / 1e12};
    bins_init(&r->load, t->header.tick < 1000 ? 1000 / t->header.tick : 1); /* a nanosecond */
    int64_t most = take_nodes(r, t);
    for (size_t i = 0; i < t->piece_count; i++)
        r->begin = i == 0 || t->pieces[i].base < r->begin ? t->pieces[i].base : r->begin;
    int rc = topo_create(&r->topo, machine, (uint32_t)most + 1, err);
    if (rc == 0 && topo_nodes(r->topo) <= (uint64_t)most)
        rc = err_set(err, ERR_INPUT, "the platform has %u nodes, but the trace is of %lld",
                     topo_nodes(r->topo), (long long)most + 1);
    if (rc != 0)
        routed_fini(r);
    return rc;
}

void routed_fini(struct routed *r)
{
    if (r->topo)
        topo_destroy(r->topo);
    topo_route_fini(&r->route);
    bins_fini(&r->load);
    mem_free(r->nodes);
    *r = (struct routed){0};
}

/* ---- the result ---- */

struct told {
    const struct routed *routed;
    struct trace_network network;
};

static void tell_vertex(struct told *t, uint32_t vertex)
{
    double x, y;
    topo_position(t->routed->topo, vertex, &x, &y);
    ARRAY_EXTEND(t->network.vertices, t->network.vertex_count);
    t->network.vertices[t->network.vertex_count++] = (struct trace_vertex){vertex, (float)x,
                                                                           (float)y};
}

static void tell_link(void *context, uint32_t number, const struct topo_link *link)
{
    struct told *t = context;
    tell_vertex(t, link->from);
    tell_vertex(t, link->to);
    ARRAY_EXTEND(t->network.links, t->network.link_count);
    t->network.links[t->network.link_count++] =
        (struct trace_link){number, link->from, link->to,
                            net_link_rate(t->routed->topo, &t->routed->machine->config, link)};
}

void routed_finish(struct routed *r, struct analysis *a)
{
    struct told t = {.routed = r};
    t.network.topology = (struct trace_topology){r->machine->config.topo_kind, topo_nodes(r->topo),
                                                 topo_vertices(r->topo), topo_links(r->topo)};
    t.network.load = r->load;
    net_links_each(r->topo, &r->load, tell_link, &t);
    analysis_links_take(a, &t.network, r->tick, r->begin);
    mem_free(t.network.vertices);
    mem_free(t.network.links);
}
