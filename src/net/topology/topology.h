/*
 * topology.h - which links a message passes on its way from node to node.
 *
 * A topology is one struct topo_ops in one file and one line of the table in topology.c. It is a
 * graph whose vertices are nodes (0 .. nodes - 1) and switches (nodes .. vertices - 1) and whose
 * links have a direction and a number. Nothing is stored per pair, and as little as possible per
 * vertex or link: ends, neighbours and ways are computed from the numbers (a graph read from a file
 * excepted), so a machine of a million nodes costs nothing but the links that are in use.
 *
 * Every node has exactly one link to the network and one from it. A link into a switch has the
 * latency of a hop (net.hop_latency), a link into a node has none.
 *
 * A way is chosen by the routing (net.routing), one file each behind the table in routing.c:
 *
 *     minimal    a shortest way, for two nodes always the same
 *     dmodk      a shortest way; among equal ones by the destination's number (d-mod-k)
 *     ecmp       a shortest way; among equal ones by a hash of source and destination
 *     valiant    a shortest way to somewhere drawn at random, and from there to the destination
 *     adaptive   of a shortest and of a few such detours that with the least load, in the manner of UGAL
 *
 * A way never leads over a link that is down while there is another.
 */
#ifndef NET_TOPOLOGY_TOPOLOGY_H
#define NET_TOPOLOGY_TOPOLOGY_H

#include <stdint.h>

#include "base/err.h"
#include "base/vtime.h"
#include "platform/lists.h"

struct topo;

struct topo_link {
    uint32_t from, to; /* vertices */
    double bandwidth;  /* bits per second, before net.bandwidth_factor; INFINITY allowed */
    vtime latency;
};

struct topo_port {
    uint32_t peer; /* vertex at the other end */
    uint32_t link; /* number of the link that leads there */
};

/* The links passed, in order. Reuse it: it grows as needed. */
struct topo_route {
    uint32_t *links;
    uint32_t count, room;
};

/* How busy is a link at present? For adaptive routing; any scale. */
struct topo_load {
    double (*of)(void *owner, uint32_t link);
    void *owner;
};

/* Of a machine with at least `nodes` nodes in use. Errors name the setting. O(1) but for a
 * graph from a file and for what net.links lists. */
int topo_create(struct topo **, const struct platform *, uint32_t nodes, struct err *);
void topo_destroy(struct topo *);

uint32_t topo_nodes(const struct topo *);      /* that the topology has room for */
uint32_t topo_vertices(const struct topo *);   /* nodes and switches */
uint64_t topo_links(const struct topo *);      /* that exist, for people; numbers may be sparse */
uint32_t topo_link_bound(const struct topo *); /* numbers of links are below */

/* What a link is at a time: faults and degraded links (net.links) are taken into account; bandwidth 0:
 * it is down. O(1), or O(log changes). */
void topo_link_at(const struct topo *, uint32_t link, vtime t, struct topo_link *out);

/* All changes of net.links in order of time, then of link: when number i is and of which link;
 * VTIME_NEVER beyond the last. Those at time 0 are the first. */
vtime topo_change(const struct topo *, uint32_t i, uint32_t *link);

/* The number of the link between two vertices by their names (n12, s3); if there are several cables the
 * first one's, or that of cable k if one of the names ends in #k. ERR_INPUT: there is none. */
int topo_find_link(const struct topo *, const char *from, const char *to, uint32_t *link,
                   struct err *);

/* Chooses the way of a message that leaves at time t. `salt`: a number that is different for each
 * message, and the same in every run. `load` may be NULL: nothing is known. Returns ERR_INPUT if
 * there is no way at all (links that are down). src != dst. */
int topo_route(const struct topo *, uint32_t src, uint32_t dst, uint64_t salt, vtime t,
               const struct topo_load *load, struct topo_route *out, struct err *);
void topo_route_fini(struct topo_route *);
/* The same with routing minimal, whatever net.routing says. */
int topo_route_minimal(const struct topo *, uint32_t src, uint32_t dst, vtime t,
                       struct topo_route *out, struct err *);

/* The sum of the latencies of the links of a shortest way (routing minimal) at time 0, without listing
 * them; VTIME_NEVER: there is none; 0 if src == dst. O(1) for regular topologies, unless net.links
 * has changes at time 0. */
vtime topo_distance(const struct topo *, uint32_t src, uint32_t dst);

/* A lower bound of the latency of the links between two different nodes, whatever the way and time. */
vtime topo_least_latency(const struct topo *);

/* Neighbours, for drawing and for finding ways around faults. */
uint32_t topo_degree(const struct topo *, uint32_t vertex);
struct topo_port topo_port_at(const struct topo *, uint32_t vertex, uint32_t i);

/* Where to draw a vertex, in a square of side 1. */
void topo_position(const struct topo *, uint32_t vertex, double *x, double *y);

/* The tables, for help and checks: names; NULL beyond the last. Static. */
const char *topo_kind_name(unsigned i);
const char *const *topo_kind_uses(unsigned i); /* settings that not all kinds use, NULL ends them */
const char *topo_routing_name(unsigned i);

#endif
