/*
 * topology.h - which links a message uses from node to node.
 *
 * A topology is one struct topo_ops in one file and one line of the table in topology.c. It is a
 * graph whose vertices are nodes (0 .. nodes - 1) and switches (nodes .. vertices - 1) and whose
 * links have a direction and a number. Nothing is stored per pair, and as little as possible per
 * vertex or link: ends, neighbours and routes are computed from the numbers (except for a graph
 * read from a file), so a machine of a million nodes costs only the links that are in use.
 *
 * Every node has exactly one link to the network and one from it. A link into a switch has the
 * latency of a hop (net.hop_latency), a link into a node has none.
 *
 * The routing (net.routing) chooses a route; each routing is one file, listed in routing.c:
 *
 *     minimal    a shortest route, always the same for two nodes
 *     dmodk      a shortest route; among equal ones by the destination's number (d-mod-k)
 *     ecmp       a shortest route; among equal ones by a hash of source and destination
 *     valiant    a shortest route to a random switch, and from there to the destination
 *     adaptive   a shortest route or one of a few such detours, by load (UGAL)
 *
 * A route never uses a link that is down if there is another route.
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
    double error_rate; /* part of its packets that are lost */
    uint32_t mtu;      /* most bytes of a packet, without framing; the same at all times */
};

struct topo_port {
    uint32_t peer; /* vertex at the other end */
    uint32_t link; /* number of the link that leads there */
};

/* The links used, in order. Reuse it: it grows as needed. */
struct topo_route {
    uint32_t *links;
    uint32_t count, room;
};

/* The current load of a link, on any scale; for adaptive routing. */
struct topo_load {
    double (*of)(void *owner, uint32_t link);
    void *owner;
};

/* Creates the topology of a machine with at least `nodes` nodes in use. Errors name the setting.
 * O(1), except for a graph from a file and the items of net.links. */
int topo_create(struct topo **, const struct platform *, uint32_t nodes, struct err *);
void topo_destroy(struct topo *);

uint32_t topo_nodes(const struct topo *); /* the number of nodes that the topology has room for */
/* A torus or mesh: the size of dimension d, without those of size 1; 0: there is none. */
uint32_t topo_grid_size(const struct topo *, uint32_t d);
/* A dragonfly: the number of groups, whose switches have consecutive numbers; otherwise 0. */
uint32_t topo_groups(const struct topo *);
uint32_t topo_vertices(const struct topo *); /* nodes and switches */
/* How many exist, for display; link numbers may be sparse. */
uint64_t topo_links(const struct topo *);
uint32_t topo_link_bound(const struct topo *); /* link numbers are below this */

/* The properties of a link at a time, including faults and degraded links (net.links); bandwidth 0:
 * it is down. O(1), or O(log changes). */
void topo_link_at(const struct topo *, uint32_t link, vtime t, struct topo_link *out);

/* The changes of net.links in order of time, then of link: the time and link of change i;
 * VTIME_NEVER beyond the last. Those at time 0 come first. */
vtime topo_change(const struct topo *, uint32_t i, uint32_t *link);

/* Chooses the route of a message that leaves at time t. `salt` is a number that differs between
 * messages and is the same in every run. `load` may be NULL: unknown. Returns ERR_INPUT if there is
 * no route at all (links that are down). src != dst. */
int topo_route(const struct topo *, uint32_t src, uint32_t dst, uint64_t salt, vtime t,
               const struct topo_load *load, struct topo_route *out, struct err *);
void topo_route_fini(struct topo_route *);
/* Does the routing choose different routes for messages between the same nodes? */
int topo_routes_vary(const struct topo *);
/* topo_route with routing minimal, whatever net.routing says. */
int topo_route_minimal(const struct topo *, uint32_t src, uint32_t dst, vtime t,
                       struct topo_route *out, struct err *);

/* The sum of the latencies of the links of a shortest route (routing minimal) at time 0, without
 * listing them; VTIME_NEVER: there is none; 0 if src == dst. O(1) for regular topologies, unless
 * net.links has changes at time 0. */
vtime topo_distance(const struct topo *, uint32_t src, uint32_t dst);

/* A lower bound of the latency of the links between two different nodes, for any route and time. */
vtime topo_least_latency(const struct topo *);

/* Neighbours, for drawing and for finding routes around faults. */
uint32_t topo_degree(const struct topo *, uint32_t vertex);
struct topo_port topo_port_at(const struct topo *, uint32_t vertex, uint32_t i);

/* Where to draw a vertex, in a square of side 1. */
void topo_position(const struct topo *, uint32_t vertex, double *x, double *y);

/* The tables, for help and checks: names; NULL beyond the last. Static. */
const char *topo_kind_name(unsigned i);
const char *const *topo_kind_uses(unsigned i); /* settings that not all kinds use, NULL ends them */
const char *topo_routing_name(unsigned i);
/* Reports that a name is not in a table, and lists the names. */
int topo_unknown(const char *setting, const char *given, const char *(*name)(unsigned),
                 struct err *);

#endif
