/*
 * topology_internal.h - what topologies and routings share. Never included outside net/topology/.
 *
 * Links are numbered in three ranges:
 *
 *     0 ..               from node i to its switch: i
 *     nodes ..           to node i from its switch: nodes + i
 *     2 * nodes ..       between switches, as the topology likes; some numbers may be unused
 *
 * Node i is at switch i / per_switch (a graph keeps a list). Topologies know only switches 0 ..
 * switches - 1: topology.c handles nodes and the numbers of vertices (switch s is vertex nodes +
 * s).
 *
 * A *choice* is a number from which a route takes a digit wherever several links are equally good:
 * of n links it takes number choice % n, and choice / n remains for later. So one number determines
 * the whole route: 0 takes the first link everywhere, the destination's number gives d-mod-k, a
 * hash gives ECMP.
 */
#ifndef NET_TOPOLOGY_TOPOLOGY_INTERNAL_H
#define NET_TOPOLOGY_TOPOLOGY_INTERNAL_H

#include <stddef.h>

#include "net/topology/topology.h"

enum topo_class { TOPO_UP = 0, TOPO_DOWN, TOPO_LOCAL, TOPO_GLOBAL, TOPO_CLASSES };

/* A link between switches. */
struct topo_ends {
    uint32_t from, to;
    enum topo_class class;
};

/* The number of links between switches on a shortest route, by kind. */
struct topo_hops {
    uint32_t local, global;
};

/* Torus and mesh, without dimensions of size 1. */
struct topo_grid {
    uint32_t count, wrap;
    uint32_t size[PLATFORM_DIMS_MAX], stride[PLATFORM_DIMS_MAX];
};

/* Levels are 0 .. levels - 1 from the bottom; [i] of the arrays is level i. */
struct topo_tree {
    uint32_t levels;
    uint32_t down[PLATFORM_DIMS_MAX];      /* children of a switch; nodes on level 0 */
    uint32_t up[PLATFORM_DIMS_MAX];        /* parents of a switch */
    uint32_t cables[PLATFORM_DIMS_MAX];    /* to each of them */
    uint32_t width[PLATFORM_DIMS_MAX];     /* switches that share all their descendants */
    uint32_t first[PLATFORM_DIMS_MAX + 1]; /* number of the first switch */
    uint32_t links[PLATFORM_DIMS_MAX + 1]; /* of its first link up; then all down */
};

struct topo_dragonfly {
    uint32_t groups, routers, globals;
    uint32_t pairs; /* links between two groups */
};

struct topo_cube {
    uint32_t dims;
};

struct topo_graph;
struct topo_changes;
struct topo_bypasses;
struct topo_ops;
struct topo_routing_ops;

struct topo {
    const struct topo_ops *ops;
    const struct topo_routing_ops *routing;
    uint32_t nodes, switches;
    uint32_t per_switch; /* 0: a graph */
    uint32_t alone;      /* of a graph: no two nodes are at one switch */
    uint64_t cables;     /* numbers of links between switches */
    uint64_t used;       /* how many of them exist */
    double bandwidth[TOPO_CLASSES];
    vtime latency[TOPO_CLASSES];
    double error_rate;
    uint32_t mtu;
    struct topo_changes *changes;   /* NULL: none */
    struct topo_bypasses *bypasses; /* caches, the mutable part of a const topo */
    union {
        struct topo_grid grid;
        struct topo_tree tree;
        struct topo_dragonfly dragonfly;
        struct topo_cube cube;
        struct topo_graph *graph;
    } u;
};

struct topo_ops {
    const char *name;
    const char *const *uses; /* settings of net.topology that only some kinds use; ends with NULL */
    /* Routing minimal chooses among equal routes by the destination, as real tables do. */
    int spread;
    /* A detour is hardly longer than a shortest route: useful around faults, too. */
    int near_detours;
    /* Fills in nodes, switches, per_switch, cables, used and u; latencies and bandwidths are
     * set. */
    int (*init)(struct topo *, const struct platform *, uint32_t nodes, struct err *);
    void (*fini)(struct topo *); /* NULL: nothing */
    /* Links to other switches, whose numbers begin with 0 here. */
    uint32_t (*degree)(const struct topo *, uint32_t s);
    struct topo_port (*port)(const struct topo *, uint32_t s, uint32_t i); /* peer: a switch */
    struct topo_ends (*ends)(const struct topo *, uint32_t link);
    /* Appends a shortest route between different switches that have nodes. 0: there is none. */
    int (*minimal)(const struct topo *, uint32_t a, uint32_t b, uint64_t choice,
                   struct topo_route *);
    /* Its length; `a` may be any switch. UINT32_MAX: there is none. */
    struct topo_hops (*hops)(const struct topo *, uint32_t a, uint32_t b);
    /* A random intermediate switch; a or b: no detour. NULL: detours do not help. */
    uint32_t (*detour)(const struct topo *, uint32_t a, uint32_t b, uint64_t random);
    void (*position)(const struct topo *, uint32_t s, double *x, double *y);
    void (*node_position)(const struct topo *, uint32_t node, double *x,
                          double *y); /* NULL: on a circle */
};

extern const struct topo_ops topo_switch_ops, topo_star_ops, topo_torus_ops, topo_mesh_ops,
    topo_tree_ops, topo_dragonfly_ops, topo_cube_ops, topo_graph_ops;

/* A message that needs a route. */
struct topo_trip {
    uint32_t src, dst; /* nodes */
    uint32_t a, b;     /* their switches, different */
    uint64_t salt;
    const struct topo_load *load;
};

struct topo_routing_ops {
    const char *name;
    int varies; /* messages between two nodes take different routes */
    /* Appends the links between switches. 0: there is no route. */
    int (*choose)(const struct topo *, const struct topo_trip *, struct topo_route *);
};

extern const struct topo_routing_ops topo_minimal_ops, topo_dmodk_ops, topo_ecmp_ops,
    topo_valiant_ops, topo_adaptive_ops;

/* ---- for topologies ---- */

/* Sets the number of switches and nodes, and of numbers of links. ERR_INPUT: it is too large to
 * be numbered, or holds fewer nodes than needed; `setting` and `shape` (what the user gave) are for
 * the message. */
int topo_set_size(struct topo *, uint64_t switches, uint64_t nodes, uint64_t cables,
                  uint32_t needed, const char *setting, const char *shape, struct err *);
/* "4x4x2" in out, which has room for TOPO_SHAPE_MAX. */
#define TOPO_SHAPE_MAX 100
const char *topo_shape(char *out, const struct platform_dims *);
/* An MTU as the platform gives it; the packet network refuses what is too large. */
static inline uint32_t topo_mtu(uint64_t bytes)
{
    return bytes < UINT32_MAX ? (uint32_t)bytes : UINT32_MAX;
}
/* The smallest k >= 1 with k^n >= x. */
uint32_t topo_root(uint64_t x, uint32_t n);

/* Appends a link between switches, numbered from 0. */
void topo_route_grow(struct topo_route *);
static inline void topo_push(struct topo_route *r, uint32_t link)
{
    if (__builtin_expect(r->count == r->room, 0))
        topo_route_grow(r);
    r->links[r->count++] = link;
}
static inline void topo_push_cable(const struct topo *t, struct topo_route *r, uint32_t cable)
{
    topo_push(r, 2 * t->nodes + cable);
}

/* Takes a digit below n from a choice. */
static inline uint32_t topo_digit(uint64_t *choice, uint32_t n)
{
    if (n <= 1 || *choice == 0)
        return 0;
    uint32_t digit = (uint32_t)(*choice % n);
    *choice /= n;
    return digit;
}

/* Well mixed bits of some numbers. */
static inline uint64_t topo_mix(uint64_t x)
{
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}
static inline uint64_t topo_hash(uint32_t src, uint32_t dst, uint64_t salt)
{
    return topo_mix(topo_mix((uint64_t)src << 32 | dst) ^ salt);
}

/* Uniform below n, from 64 random bits. */
static inline uint32_t topo_below(uint64_t random, uint32_t n)
{
    return (uint32_t)((unsigned __int128)random * n >> 64);
}

/* ---- for routings ---- */

const struct topo_routing_ops *topo_routing_find(const char *name); /* NULL: unknown */

/* Appends a route through a switch drawn with `random`, or a shortest route if the topology has no
 * detours. */
int topo_choose_detour(const struct topo *, const struct topo_trip *, uint64_t random,
                       struct topo_route *);

/* ---- graphs ---- */

uint32_t topo_graph_switch_of(const struct topo *, uint32_t node);
uint32_t topo_graph_nodes_at(const struct topo *, uint32_t s, const uint32_t **nodes);
void topo_graph_link(const struct topo *, uint32_t link, struct topo_link *out); /* any link */
vtime topo_graph_distance(const struct topo *, uint32_t src, uint32_t dst); /* of different nodes */
/* The vertex that has the links of a node in the file: the node, or its own router. */
uint32_t topo_graph_vertex(const struct topo *, uint32_t node);

static inline uint32_t topo_switch_of(const struct topo *t, uint32_t node)
{
    return t->per_switch ? node / t->per_switch : topo_graph_switch_of(t, node);
}

/* ---- links over time (changes.c) ---- */

int topo_changes_init(struct topo *, const struct platform *, struct err *);
void topo_changes_fini(struct topo *);
/* The properties of a link according to the topology, before any change. */
void topo_link_nominal(const struct topo *, uint32_t link, struct topo_link *out);
int topo_changes_any_down(const struct topo *); /* ever */
int topo_changes_at_start(const struct topo *); /* at time 0 */
uint32_t topo_changes_epoch(const struct topo *,
                            vtime t); /* equal numbers: nothing has changed between the two times */
/* The least latency of links of nodes (TOPO_UP, TOPO_DOWN) or between switches over all time. */
vtime topo_changes_least(const struct topo *, enum topo_class, vtime nominal);

/* ---- routes around faults (bypass.c) ---- */

int topo_is_down(const struct topo *, uint32_t link, vtime t);
/* Replaces the route in `out` by one without links that are down. ERR_INPUT: there is none. */
int topo_bypass(const struct topo *, const struct topo_trip *, vtime t, struct topo_route *out,
                struct err *);
struct topo_bypasses *topo_bypasses_create(void);
void topo_bypasses_destroy(struct topo_bypasses *);
struct topo_route *topo_bypasses_scratch(const struct topo *);

#endif
