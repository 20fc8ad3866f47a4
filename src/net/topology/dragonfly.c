/*
 * dragonfly.c - groups of routers; all routers of a group are connected, and so are all groups
 * (Kim, Dally, Scott and Abts, "Technology-driven, highly-scalable dragonfly topology", 2008).
 *
 * Let there be g groups of a routers with h links each to other groups, and D = g - 1. The a * h
 * ends of links at a group are numbered through: end j is at router j / h. With K = a * h / D
 * (rounded down), the ends j < K * D are in use, and the others are not connected:
 *
 *     end k * D + o of group G  is joined to  end k * D + (D - 1 - o) of group (G + o + 1) mod g
 *
 * for k < K: the relative arrangement ("palm tree" in the other direction), K times, so that any
 * two groups have K links. Router r of group G is switch G * a + r. Its links have the numbers s *
 * (a - 1 + h) plus: 0 .. a - 2 to the other routers of the group in their order, then those to
 * other groups.
 *
 * A shortest route uses one link between groups and at most one within each of the two. Of the K
 * links, the candidates are those that begin at the source's router and end at the destination's,
 * else those that do one of both, else all: intervals of k, found without examining each. The only
 * digit of a choice selects one of them. (Two links between groups might give a shorter route; such
 * routes are not considered.)
 */
#include <math.h>
#include <stdio.h>

#include "net/topology/topology_internal.h"

#define MOST 16384 /* so that products fit into 64 bits */

/* Fills in what is not given. */
static void choose_shape(const struct platform_config *c, uint32_t nodes, uint64_t *g, uint64_t *a,
                         uint64_t *h, uint64_t *p)
{
    *g = c->topo_groups, *a = c->topo_routers, *h = c->topo_global, *p = c->topo_nodes;
    if (*a == 0 && *h == 0 && *p == 1 && *g == 0) { /* the smallest with a = 2 p = 2 h */
        while (2 * *p * *p * (2 * *p * *p + 1) < nodes)
            ++*p;
        *h = *p;
    }
    if (*a == 0)
        *a = *h ? 2 * *h : 2 * *p;
    if (*h == 0)
        *h = (*a + 1) / 2;
    if (*g == 0)
        *g = *a * *h + 1;
}

static int dragonfly_init(struct topo *t, const struct platform *p, uint32_t nodes, struct err *err)
{
    struct topo_dragonfly *f = &t->u.dragonfly;
    uint64_t g, a, h, per;
    char shape[TOPO_SHAPE_MAX];
    if (p->config.topo_routers > MOST || p->config.topo_global > MOST ||
        p->config.topo_nodes > MOST || p->config.topo_groups > UINT32_MAX)
        return err_set(err, ERR_INPUT,
                       "net.topology: a dragonfly has at most %d routers in a group, and nodes and "
                       "links at a router",
                       MOST);
    choose_shape(&p->config, nodes, &g, &a, &h, &per);
    if (g > a * h + 1)
        return err_set(err, ERR_INPUT,
                       "net.topology.groups: %llu groups are too many for %llu routers with %llu "
                       "links to other groups each: expected at most %llu",
                       (unsigned long long)g, (unsigned long long)a, (unsigned long long)h,
                       (unsigned long long)(a * h + 1));
    *f = (struct topo_dragonfly){(uint32_t)g, (uint32_t)a, (uint32_t)h, 0};
    f->pairs = g > 1 ? (uint32_t)(a * h / (g - 1)) : 0;
    t->per_switch = (uint32_t)per;
    t->used = g * (a * (a - 1) + (g - 1) * f->pairs);
    snprintf(shape, sizeof shape, "%llu groups of %llu routers with %llu nodes",
             (unsigned long long)g, (unsigned long long)a, (unsigned long long)per);
    return topo_set_size(t, g * a, g * a * per, g * a * (a - 1 + h), nodes, "net.topology.groups",
                         shape, err);
}

static uint32_t ports(const struct topo_dragonfly *f)
{
    return f->routers - 1 + f->globals;
}

/* Ends in use at a group. */
static uint32_t ends_in_use(const struct topo_dragonfly *f)
{
    return f->pairs * (f->groups - 1);
}

static uint32_t local_link(const struct topo_dragonfly *f, uint32_t group, uint32_t from,
                           uint32_t to)
{
    return (group * f->routers + from) * ports(f) + (to < from ? to : to - 1);
}

static uint32_t global_link(const struct topo_dragonfly *f, uint32_t group, uint32_t end)
{
    return (group * f->routers + end / f->globals) * ports(f) + f->routers - 1 + end % f->globals;
}

/* The switch at the other side of an end. */
static uint32_t across(const struct topo_dragonfly *f, uint32_t group, uint32_t end)
{
    uint32_t d = f->groups - 1, o = end % d, there = end - o + (d - 1 - o);
    group = (uint32_t)(((uint64_t)group + o + 1) % f->groups);
    return group * f->routers + there / f->globals;
}

static uint32_t dragonfly_degree(const struct topo *t, uint32_t s)
{
    const struct topo_dragonfly *f = &t->u.dragonfly;
    uint32_t first = s % f->routers * f->globals, used = ends_in_use(f);
    uint32_t mine = used <= first ? 0 : used - first;
    return f->routers - 1 + (mine < f->globals ? mine : f->globals);
}

static struct topo_ends dragonfly_ends(const struct topo *t, uint32_t link)
{
    const struct topo_dragonfly *f = &t->u.dragonfly;
    uint32_t s = link / ports(f), i = link % ports(f);
    uint32_t group = s / f->routers, r = s % f->routers;
    if (i < f->routers - 1)
        return (struct topo_ends){s, group * f->routers + (i < r ? i : i + 1), TOPO_LOCAL};
    return (struct topo_ends){s, across(f, group, r * f->globals + i - (f->routers - 1)),
                              TOPO_GLOBAL};
}

static struct topo_port dragonfly_port(const struct topo *t, uint32_t s, uint32_t i)
{
    uint32_t link = s * ports(&t->u.dragonfly) + i;
    return (struct topo_port){dragonfly_ends(t, link).to, link};
}

/* The k < K for which end k * D + o is at a router: `count` from `first` on. */
struct range {
    uint32_t first, count;
};

static struct range range_at(const struct topo_dragonfly *f, uint32_t router, uint32_t o)
{
    uint32_t d = f->groups - 1, low = router * f->globals, high = low + f->globals; /* beyond */
    uint32_t first = low > o ? (low - o + d - 1) / d : 0;
    uint32_t beyond = high > o ? (high - o + d - 1) / d : 0;
    beyond = beyond < f->pairs ? beyond : f->pairs;
    return (struct range){first, beyond > first ? beyond - first : 0};
}

/* The best links from switch a to switch b of another group: one range, or two that give the same
 * length. Returns the length. */
static uint32_t best_links(const struct topo_dragonfly *f, uint32_t a, uint32_t b, uint32_t o,
                           struct range out[2])
{
    struct range x = range_at(f, a % f->routers, o);
    struct range y = range_at(f, b % f->routers, f->groups - 2 - o);
    uint32_t first = x.first > y.first ? x.first : y.first;
    uint32_t x_beyond = x.first + x.count, y_beyond = y.first + y.count;
    uint32_t beyond = x_beyond < y_beyond ? x_beyond : y_beyond;
    if (x.count && y.count && first < beyond) {
        out[0] = (struct range){first, beyond - first};
        out[1] = (struct range){0, 0};
        return 1;
    }
    if (x.count || y.count) {
        out[0] = x;
        out[1] = y;
        return 2;
    }
    out[0] = (struct range){0, f->pairs};
    out[1] = (struct range){0, 0};
    return 3;
}

/* The distance from a's group to b's, going forward, less one. */
static uint32_t offset(const struct topo_dragonfly *f, uint32_t from, uint32_t to)
{
    return (to > from ? to - from : to + f->groups - from) - 1;
}

static int dragonfly_minimal(const struct topo *t, uint32_t a, uint32_t b, uint64_t choice,
                             struct topo_route *out)
{
    const struct topo_dragonfly *f = &t->u.dragonfly;
    uint32_t from = a / f->routers, to = b / f->routers, ra = a % f->routers, rb = b % f->routers;
    if (from == to) {
        topo_push_cable(t, out, local_link(f, from, ra, rb));
        return 1;
    }
    struct range links[2];
    uint32_t d = f->groups - 1, o = offset(f, from, to);
    best_links(f, a, b, o, links);
    uint32_t k = topo_digit(&choice, links[0].count + links[1].count);
    k = k < links[0].count ? links[0].first + k : links[1].first + k - links[0].count;
    uint32_t leave = (k * d + o) / f->globals, enter = (k * d + d - 1 - o) / f->globals;
    if (leave != ra)
        topo_push_cable(t, out, local_link(f, from, ra, leave));
    topo_push_cable(t, out, global_link(f, from, k * d + o));
    if (enter != rb)
        topo_push_cable(t, out, local_link(f, to, enter, rb));
    return 1;
}

static struct topo_hops dragonfly_hops(const struct topo *t, uint32_t a, uint32_t b)
{
    const struct topo_dragonfly *f = &t->u.dragonfly;
    uint32_t from = a / f->routers, to = b / f->routers;
    struct range links[2];
    if (from == to)
        return (struct topo_hops){a != b, 0};
    return (struct topo_hops){best_links(f, a, b, offset(f, from, to), links) - 1, 1};
}

/* The end of a link to a random group; within a group, a random router of it. */
static uint32_t dragonfly_detour(const struct topo *t, uint32_t a, uint32_t b, uint64_t random)
{
    const struct topo_dragonfly *f = &t->u.dragonfly;
    uint32_t from = a / f->routers, to = b / f->routers;
    if (from == to)
        return from * f->routers + topo_below(random, f->routers);
    if (f->groups < 3)
        return a;
    uint32_t d = f->groups - 1, skip = offset(f, from, to), o = topo_below(random, d - 1);
    o += o >= skip;
    return across(f, from, topo_below(topo_mix(random), f->pairs) * d + o);
}

/* ---- drawing: groups on a circle, each in a sector with its routers on an inner arc and their
 * nodes on an outer one, so that links between groups have the inside for themselves ---- */

#define ROUTERS_AT 0.34 /* radius */
#define NODES_AT 0.43
#define ROW 0.018           /* from one row of nodes to the next */
#define ROWS_MAX 3          /* nodes take turns in rows if there are many */
#define NODES_IN_ROW 200    /* a row has room for */
#define USED 0.8            /* of a sector; the rest separates the groups */
#define WIDEST (M_PI * 0.4) /* sector */

static double sector(const struct topo_dragonfly *f)
{
    return f->groups == 1 ? 2 * M_PI : fmin(USED * 2 * M_PI / f->groups, WIDEST);
}

/* Twice the middle of the offsets of the groups that a router leads to. */
static uint64_t aim(const struct topo_dragonfly *f, uint32_t router)
{
    uint32_t d = f->groups > 1 ? f->groups - 1 : 1;
    return (2 * (uint64_t)router * f->globals + f->globals - 1) % (2 * (uint64_t)d);
}

/* The place of a router in the arc of its group, clockwise. Offsets are clockwise, so who leads to
 * the next groups comes last: links leave on the side of the group that they lead to. */
static uint32_t place(const struct topo_dragonfly *f, uint32_t router)
{
    uint64_t own = aim(f, router);
    uint32_t before = 0;
    if (f->pairs <= 1)
        return f->routers - 1 - router; /* aims grow with the number */
    for (uint32_t r = 0; r < f->routers; r++)
        before += aim(f, r) > own || (aim(f, r) == own && r > router);
    return before;
}

/* `along` is the place in the arc of the group, 0 to the number of routers. */
static void put(const struct topo_dragonfly *f, uint32_t group, double along, double radius,
                double *x, double *y)
{
    double angle = 2 * M_PI * group / f->groups + sector(f) * (along / f->routers - 0.5);
    *x = 0.5 + radius * sin(angle);
    *y = 0.5 - radius * cos(angle);
}

static void dragonfly_position(const struct topo *t, uint32_t s, double *x, double *y)
{
    const struct topo_dragonfly *f = &t->u.dragonfly;
    put(f, s / f->routers, place(f, s % f->routers) + 0.5, ROUTERS_AT, x, y);
}

static void dragonfly_node_position(const struct topo *t, uint32_t node, double *x, double *y)
{
    const struct topo_dragonfly *f = &t->u.dragonfly;
    uint32_t s = node / t->per_switch, i = node % t->per_switch, at = place(f, s % f->routers);
    uint32_t rows = 1 + t->nodes / NODES_IN_ROW;
    rows = rows < ROWS_MAX ? rows : ROWS_MAX;
    put(f, s / f->routers, at + (i + 0.5) / t->per_switch,
        NODES_AT + ROW * (double)(((uint64_t)at * t->per_switch + i) % rows), x, y);
}

static const char *const uses[] = {
    "net.topology.groups",         "net.topology.routers",
    "net.topology.nodes",          "net.topology.global",
    "net.topology.bandwidth",      "net.topology.global_bandwidth",
    "net.topology.global_latency", NULL,
};

const struct topo_ops topo_dragonfly_ops = {
    .name = "dragonfly",
    .uses = uses,
    .spread = 1,
    .near_detours = 1,
    .init = dragonfly_init,
    .degree = dragonfly_degree,
    .port = dragonfly_port,
    .ends = dragonfly_ends,
    .minimal = dragonfly_minimal,
    .hops = dragonfly_hops,
    .detour = dragonfly_detour,
    .position = dragonfly_position,
    .node_position = dragonfly_node_position,
};

uint32_t topo_groups(const struct topo *t)
{
    return t->ops == &topo_dragonfly_ops ? t->u.dragonfly.groups : 0;
}
