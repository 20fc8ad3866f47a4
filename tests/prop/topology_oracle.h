/* What is true of every topology, found by looking at its links one by one.
 *
 * The oracle knows a topology only by topo_degree, topo_port_at and topo_link_at: it lists all
 * links, and finds lengths of shortest ways by relaxing all of them until nothing changes.
 */
#ifndef TOPOLOGY_ORACLE_H
#define TOPOLOGY_ORACLE_H

#include <stdlib.h>
#include <string.h>

#include "net/topology/topology.h"

struct oracle {
    const struct topo *topo;
    uint32_t vertices, bound, count;
    struct topo_link *links; /* by number */
    unsigned char *exists;   /* by number */
    vtime *dist;             /* of each vertex from a source */
};

/* Lists all links. NULL: all is well, else what is wrong. */
static const char *oracle_init(struct oracle *o, const struct topo *t)
{
    *o = (struct oracle){.topo = t, .vertices = topo_vertices(t), .bound = topo_link_bound(t)};
    o->links = calloc(o->bound + 1, sizeof *o->links);
    o->exists = calloc(o->bound + 1, 1);
    o->dist = calloc(o->vertices + 1, sizeof *o->dist);
    for (uint32_t v = 0; v < o->vertices; v++) {
        uint32_t n = topo_degree(t, v);
        for (uint32_t i = 0; i < n; i++) {
            struct topo_port port = topo_port_at(t, v, i);
            struct topo_link link;
            if (port.link >= o->bound || port.peer >= o->vertices || port.peer == v)
                return "a port is out of range";
            if (o->exists[port.link]++)
                return "two ports have the same link";
            topo_link_at(t, port.link, 0, &link);
            if (link.from != v || link.to != port.peer)
                return "a link's ends are not its ports'";
            o->links[port.link] = link;
            o->count++;
        }
        if (v < topo_nodes(t) && (n != 1 || topo_port_at(t, v, 0).peer < topo_nodes(t)))
            return "a node has not one link to a switch";
    }
    return o->count == topo_links(t) ? NULL : "the number of links is wrong";
}

static void oracle_fini(struct oracle *o)
{
    free(o->links);
    free(o->exists);
    free(o->dist);
}

/* As many cables there as back. */
static int oracle_symmetric(const struct oracle *o)
{
    for (uint32_t a = 0; a < o->bound; a++) {
        int there = 0, back = 0;
        for (uint32_t b = 0; b < o->bound && o->exists[a]; b++) {
            if (!o->exists[b])
                continue;
            there += o->links[b].from == o->links[a].from && o->links[b].to == o->links[a].to;
            back += o->links[b].from == o->links[a].to && o->links[b].to == o->links[a].from;
        }
        if (there != back)
            return 0;
    }
    return 1;
}

/* Least sums of latencies from a vertex, over links that are up at a time. */
static void oracle_from(struct oracle *o, uint32_t src, vtime at)
{
    struct topo_link now;
    int changed = 1;
    for (uint32_t v = 0; v < o->vertices; v++)
        o->dist[v] = v == src ? 0 : VTIME_NEVER;
    for (uint32_t i = 0; i < o->bound; i++)
        if (o->exists[i]) {
            topo_link_at(o->topo, i, at, &now);
            o->links[i] = now;
        }
    while (changed) {
        changed = 0;
        for (uint32_t i = 0; i < o->bound; i++) {
            const struct topo_link *l = &o->links[i];
            if (!o->exists[i] || l->bandwidth == 0 || o->dist[l->from] == VTIME_NEVER)
                continue;
            if (o->dist[l->from] + l->latency < o->dist[l->to]) {
                o->dist[l->to] = o->dist[l->from] + l->latency;
                changed = 1;
            }
        }
    }
}

/* The sum of latencies of a way, or -1 if it is no chain of links that are up from src to dst. */
static vtime oracle_length(const struct oracle *o, const struct topo_route *r, uint32_t src,
                           uint32_t dst, vtime at)
{
    uint32_t v = src;
    vtime sum = 0;
    for (uint32_t i = 0; i < r->count; i++) {
        struct topo_link link;
        if (r->links[i] >= o->bound || !o->exists[r->links[i]])
            return -1;
        topo_link_at(o->topo, r->links[i], at, &link);
        if (link.from != v || link.bandwidth == 0)
            return -1;
        sum += link.latency;
        v = link.to;
    }
    return v == dst ? sum : -1;
}

#endif
