/*
 * graph.c - a graph from a file (net.topology.file): any switches, nodes and links.
 *
 * Links between switches are sorted by their source and numbered in that order, so the links of a
 * switch follow each other. A node that has one link to a switch and one back is at that switch.
 * Any other node (with several links, or with one to another node) gets its own router, numbered
 * after the switches of the file. It connects to that router by a link without limits; its links in
 * the file become the router's.
 *
 * Shortest means the fewest links, and among these the least sum of latencies. The distances from
 * all switches to a destination are computed together (a breadth-first search from the destination)
 * when they are first needed, and kept in a cache of fixed size. A route follows any link that
 * reduces the distance by one. Each switch with several such links takes a digit of the choice;
 * they are ordered by number.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "net/topology/topology_internal.h"

#define CACHE_BYTES ((uint64_t)64 << 20)

/* What a link is like. */
struct cable {
    double bandwidth;
    vtime latency;
    double error_rate;
    uint32_t mtu;
};

/* A link between switches. */
struct edge {
    uint32_t from, to;
    struct cable cable;
};

/* The distance from each switch to a destination. */
struct reach {
    uint32_t b;     /* UINT32_MAX: the slot is free */
    uint32_t *hops; /* UINT32_MAX: unreachable */
    vtime *latency;
};

struct topo_graph {
    uint32_t named; /* switches of the file; the rest are routers of nodes */
    struct edge *edges;
    uint32_t *first;               /* of the links from each switch, and the end */
    uint32_t *in, *in_first;       /* the same for links to a switch: numbers of links */
    uint32_t *at;                  /* the switch of each node */
    uint32_t *nodes, *nodes_first; /* the nodes of each switch */
    struct cable *up, *down;       /* of each node */
    struct reach *cache;
    uint32_t slots;
    uint32_t *queue;
};

uint32_t topo_graph_switch_of(const struct topo *t, uint32_t node)
{
    return t->u.graph->at[node];
}

uint32_t topo_graph_nodes_at(const struct topo *t, uint32_t s, const uint32_t **nodes)
{
    const struct topo_graph *g = t->u.graph;
    *nodes = g->nodes + g->nodes_first[s];
    return g->nodes_first[s + 1] - g->nodes_first[s];
}

uint32_t topo_graph_vertex(const struct topo *t, uint32_t node)
{
    uint32_t s = t->u.graph->at[node];
    return s < t->u.graph->named ? node : t->nodes + s;
}

static void fill(struct topo_link *out, uint32_t from, uint32_t to, const struct cable *c)
{
    *out = (struct topo_link){from, to, c->bandwidth, c->latency, c->error_rate, c->mtu};
}

void topo_graph_link(const struct topo *t, uint32_t link, struct topo_link *out)
{
    const struct topo_graph *g = t->u.graph;
    if (link >= 2 * t->nodes) {
        const struct edge *e = &g->edges[link - 2 * t->nodes];
        fill(out, t->nodes + e->from, t->nodes + e->to, &e->cable);
        return;
    }
    uint32_t up = link < t->nodes, node = up ? link : link - t->nodes, s = t->nodes + g->at[node];
    fill(out, up ? node : s, up ? s : node, up ? &g->up[node] : &g->down[node]);
}

/* ---- reading ---- */

/* How often a node occurs in the file. */
struct count {
    uint32_t out, in;
    uint32_t to, from; /* the other ends of the last links */
};

static int is_switch(uint32_t vertex)
{
    return (vertex & PLATFORM_SWITCH) != 0;
}

static int check_edges(const struct platform_edge *edges, size_t n, uint32_t needed,
                       uint32_t *nodes, uint32_t *switches, struct err *err)
{
    *nodes = *switches = 0;
    for (size_t i = 0; i < n; i++) {
        uint32_t ends[2] = {edges[i].from, edges[i].to};
        if (ends[0] == ends[1])
            return err_set(err, ERR_INPUT, "net.topology.file: a link from '%c%u' to itself",
                           is_switch(ends[0]) ? 's' : 'n', ends[0] & ~PLATFORM_SWITCH);
        for (int k = 0; k < 2; k++) {
            uint32_t *most = is_switch(ends[k]) ? switches : nodes;
            uint32_t number = ends[k] & ~PLATFORM_SWITCH;
            *most = number >= *most ? number + 1 : *most;
        }
    }
    if (n == 0)
        return err_set(err, ERR_INPUT, "net.topology.file: a graph needs a file of its links");
    if (n > INT32_MAX || (uint64_t)*nodes + *switches > INT32_MAX)
        return err_set(err, ERR_INPUT, "net.topology.file: the graph is too large");
    if (*nodes > n || *switches > n) /* each needs its own link */
        return err_set(err, ERR_INPUT,
                       "net.topology.file: %zu links cannot join %u nodes and %u switches: they "
                       "are numbered from 0 without gaps",
                       n, *nodes, *switches);
    if (*nodes < needed)
        return err_set(err, ERR_INPUT, "net.topology.file: the graph has %u nodes: %u are needed",
                       *nodes, needed);
    return 0;
}

static void count_edges(const struct platform_edge *edges, size_t n, struct count *counts)
{
    for (size_t i = 0; i < n; i++) {
        if (!is_switch(edges[i].from)) {
            counts[edges[i].from].out++;
            counts[edges[i].from].to = edges[i].to;
        }
        if (!is_switch(edges[i].to)) {
            counts[edges[i].to].in++;
            counts[edges[i].to].from = edges[i].from;
        }
    }
}

/* Puts every node at a switch; makes routers as needed. */
static int place_nodes(struct topo *t, const struct count *counts, struct err *err)
{
    struct topo_graph *g = t->u.graph;
    for (uint32_t i = 0; i < t->nodes; i++) {
        const struct count *c = &counts[i];
        if (c->out == 0 || c->in == 0)
            return err_set(err, ERR_INPUT, "net.topology.file: node 'n%u' has no link %s it", i,
                           c->out ? "to" : "from");
        g->up[i] = g->down[i] = (struct cable){INFINITY, 0, 0, UINT32_MAX};
        if (c->out == 1 && c->in == 1 && c->to == c->from && is_switch(c->to))
            g->at[i] = c->to & ~PLATFORM_SWITCH;
        else
            g->at[i] = t->switches++;
    }
    return 0;
}

static uint32_t switch_at(const struct topo_graph *g, uint32_t vertex)
{
    return is_switch(vertex) ? vertex & ~PLATFORM_SWITCH : g->at[vertex];
}

/* Is the node at a switch of the file, so that the links in the file are its own? */
static int plain_node(const struct topo_graph *g, uint32_t vertex)
{
    return !is_switch(vertex) && g->at[vertex] < g->named;
}

/* Sorts the links of the file into those of nodes and those between switches. */
static void place_edges(struct topo *t, const struct platform_edge *edges, size_t n)
{
    struct topo_graph *g = t->u.graph;
    for (size_t i = 0; i < n; i++) {
        const struct platform_edge *e = &edges[i];
        int up = plain_node(g, e->from), down = plain_node(g, e->to);
        int of_node = !is_switch(e->from) || !is_switch(e->to);
        struct cable cable = {!isnan(e->bandwidth) ? e->bandwidth
                                                   : t->bandwidth[of_node ? TOPO_UP : TOPO_LOCAL],
                              e->latency != VTIME_NEVER ? e->latency
                                                        : t->latency[down ? TOPO_DOWN : TOPO_LOCAL],
                              !isnan(e->error_rate) ? e->error_rate : t->error_rate,
                              e->mtu != UINT64_MAX ? topo_mtu(e->mtu) : t->mtu};
        if (up)
            g->up[e->from] = cable;
        else if (down)
            g->down[e->to] = cable;
        else
            g->edges[t->cables++] = (struct edge){switch_at(g, e->from), switch_at(g, e->to),
                                                  cable};
    }
}

/* Equal links may be in any order: they are indistinguishable. */
static int by_ends(const void *a, const void *b)
{
    const struct edge *x = a, *y = b;
    if (x->from != y->from)
        return x->from < y->from ? -1 : 1;
    if (x->to != y->to)
        return x->to < y->to ? -1 : 1;
    if (x->cable.latency != y->cable.latency)
        return x->cable.latency < y->cable.latency ? -1 : 1;
    if (x->cable.bandwidth != y->cable.bandwidth)
        return x->cable.bandwidth > y->cable.bandwidth ? -1 : 1;
    if (x->cable.error_rate != y->cable.error_rate)
        return x->cable.error_rate < y->cable.error_rate ? -1 : 1;
    return (x->cable.mtu < y->cable.mtu) - (x->cable.mtu > y->cable.mtu);
}

/* first[k] .. first[k + 1] - 1 are the positions of items with key k in the order of `items`. */
static void bucket(uint32_t *first, uint32_t *items, uint32_t keys, const uint32_t *key,
                   size_t step, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        first[key[i * step] + 1]++;
    for (uint32_t k = 0; k < keys; k++)
        first[k + 1] += first[k];
    for (uint32_t i = n; i-- > 0;)
        items[--first[key[i * step] + 1]] = i;
    /* each first[k + 1] is now the start of k: one position too far */
    memmove(first, first + 1, keys * sizeof *first);
    first[keys] = n;
}

static void *array(size_t n, size_t size)
{
    return mem_zalloc((n + 1) * size);
}

static void index_edges(struct topo *t)
{
    struct topo_graph *g = t->u.graph;
    uint32_t n = (uint32_t)t->cables, s = t->switches;
    qsort(g->edges, n, sizeof *g->edges, by_ends);
    g->first = array(s + 1, sizeof *g->first);
    g->in = array(n, sizeof *g->in);
    g->in_first = array(s + 1, sizeof *g->in_first);
    g->nodes = array(t->nodes, sizeof *g->nodes);
    g->nodes_first = array(s + 1, sizeof *g->nodes_first);
    g->queue = array(s, sizeof *g->queue);
    size_t step = sizeof *g->edges / sizeof(uint32_t);
    bucket(g->first, g->in, s, &g->edges[0].from, step, n); /* `in` serves as the identity here */
    bucket(g->in_first, g->in, s, &g->edges[0].to, step, n);
    bucket(g->nodes_first, g->nodes, s, g->at, 1, t->nodes);
    uint64_t each = (uint64_t)s * (sizeof(uint32_t) + sizeof(vtime)) + sizeof(struct reach);
    g->slots = (uint32_t)(CACHE_BYTES / each < 4 ? 4 : CACHE_BYTES / each);
    g->slots = g->slots < s ? g->slots : s;
    g->cache = array(g->slots, sizeof *g->cache);
    for (uint32_t i = 0; i < g->slots; i++)
        g->cache[i].b = UINT32_MAX;
}

/* The least latencies of links, for topo_least_latency. */
static void set_least(struct topo *t)
{
    const struct topo_graph *g = t->u.graph;
    t->latency[TOPO_UP] = t->latency[TOPO_DOWN] = t->latency[TOPO_LOCAL] = VTIME_LIMIT;
    t->alone = 1;
    for (uint32_t s = 0; s < t->switches; s++)
        t->alone &= g->nodes_first[s + 1] - g->nodes_first[s] < 2;
    for (uint32_t i = 0; i < t->cables; i++)
        if (g->edges[i].cable.latency < t->latency[TOPO_LOCAL])
            t->latency[TOPO_LOCAL] = g->edges[i].cable.latency;
    for (uint32_t i = 0; i < t->nodes; i++) {
        if (g->up[i].latency < t->latency[TOPO_UP])
            t->latency[TOPO_UP] = g->up[i].latency;
        if (g->down[i].latency < t->latency[TOPO_DOWN])
            t->latency[TOPO_DOWN] = g->down[i].latency;
    }
}

static int graph_init(struct topo *t, const struct platform *p, uint32_t nodes, struct err *err)
{
    const struct platform_list *list = &p->lists[PLATFORM_EDGES];
    struct topo_graph *g = t->u.graph = mem_zalloc(sizeof *g);
    int e = check_edges(list->items, list->count, nodes, &t->nodes, &t->switches, err);
    if (e)
        return e;
    g->named = t->switches;
    g->at = array(t->nodes, sizeof *g->at);
    g->up = array(t->nodes, sizeof *g->up);
    g->down = array(t->nodes, sizeof *g->down);
    g->edges = array(list->count, sizeof *g->edges);
    struct count *counts = array(t->nodes, sizeof *counts);
    count_edges(list->items, list->count, counts);
    e = place_nodes(t, counts, err);
    mem_free(counts);
    if (e)
        return e;
    place_edges(t, list->items, list->count);
    index_edges(t);
    set_least(t);
    t->used = t->cables;
    return topo_set_size(t, t->switches, t->nodes, t->cables, nodes, "net.topology.file",
                         p->config.topo_file, err);
}

static void graph_fini(struct topo *t)
{
    struct topo_graph *g = t->u.graph;
    for (uint32_t i = 0; g->cache && i < g->slots; i++) {
        mem_free(g->cache[i].hops);
        mem_free(g->cache[i].latency);
    }
    mem_free(g->cache);
    mem_free(g->edges);
    mem_free(g->first);
    mem_free(g->in);
    mem_free(g->in_first);
    mem_free(g->at);
    mem_free(g->nodes);
    mem_free(g->nodes_first);
    mem_free(g->up);
    mem_free(g->down);
    mem_free(g->queue);
    mem_free(g);
}

/* ---- distances ---- */

/* Backwards from the destination: all switches at one distance before those at the next. */
static void work_out(const struct topo *t, struct reach *r)
{
    const struct topo_graph *g = t->u.graph;
    uint32_t head = 0, tail = 0;
    memset(r->hops, 0xff, t->switches * sizeof *r->hops);
    r->hops[r->b] = 0;
    r->latency[r->b] = 0;
    g->queue[tail++] = r->b;
    while (head < tail) {
        uint32_t v = g->queue[head++];
        vtime least = v == r->b ? 0 : VTIME_LIMIT;
        for (uint32_t i = g->first[v]; i < g->first[v + 1]; i++) {
            const struct edge *e = &g->edges[i];
            vtime sum = r->hops[e->to] == r->hops[v] - 1 && v != r->b
                            ? vtime_add(e->cable.latency, r->latency[e->to])
                            : VTIME_LIMIT;
            least = sum < least ? sum : least;
        }
        r->latency[v] = least;
        for (uint32_t i = g->in_first[v]; i < g->in_first[v + 1]; i++) {
            uint32_t u = g->edges[g->in[i]].from;
            if (r->hops[u] == UINT32_MAX) {
                r->hops[u] = r->hops[v] + 1;
                g->queue[tail++] = u;
            }
        }
    }
}

static const struct reach *reach_of(const struct topo *t, uint32_t b)
{
    const struct topo_graph *g = t->u.graph;
    struct reach *r = &g->cache[b % g->slots];
    if (__builtin_expect(r->b != b, 0)) {
        if (!r->hops) {
            r->hops = array(t->switches, sizeof *r->hops);
            r->latency = array(t->switches, sizeof *r->latency);
        }
        r->b = b;
        work_out(t, r);
    }
    return r;
}

static struct topo_hops graph_hops(const struct topo *t, uint32_t a, uint32_t b)
{
    return (struct topo_hops){reach_of(t, b)->hops[a], 0};
}

vtime topo_graph_distance(const struct topo *t, uint32_t src, uint32_t dst)
{
    const struct topo_graph *g = t->u.graph;
    const struct reach *r = reach_of(t, g->at[dst]);
    if (r->hops[g->at[src]] == UINT32_MAX)
        return VTIME_NEVER;
    return vtime_add(vtime_add(g->up[src].latency, r->latency[g->at[src]]), g->down[dst].latency);
}

/* ---- routes ---- */

static uint32_t graph_degree(const struct topo *t, uint32_t s)
{
    return t->u.graph->first[s + 1] - t->u.graph->first[s];
}

static struct topo_port graph_port(const struct topo *t, uint32_t s, uint32_t i)
{
    const struct topo_graph *g = t->u.graph;
    return (struct topo_port){g->edges[g->first[s] + i].to, g->first[s] + i};
}

static struct topo_ends graph_ends(const struct topo *t, uint32_t link)
{
    const struct edge *e = &t->u.graph->edges[link];
    return (struct topo_ends){e->from, e->to, TOPO_LOCAL};
}

/* Is a link of v on a shortest route? */
static int leads_on(const struct reach *r, const struct edge *e)
{
    return r->hops[e->to] == r->hops[e->from] - 1 &&
           vtime_add(e->cable.latency, r->latency[e->to]) == r->latency[e->from];
}

static int graph_minimal(const struct topo *t, uint32_t a, uint32_t b, uint64_t choice,
                         struct topo_route *out)
{
    const struct topo_graph *g = t->u.graph;
    const struct reach *r = reach_of(t, b);
    if (r->hops[a] == UINT32_MAX)
        return 0;
    while (a != b) {
        uint32_t n = 0, i = g->first[a];
        for (uint32_t k = i; k < g->first[a + 1] && choice; k++)
            n += (uint32_t)leads_on(r, &g->edges[k]);
        uint32_t digit = topo_digit(&choice, n);
        while (!leads_on(r, &g->edges[i]) || digit-- > 0)
            i++;
        topo_push_cable(t, out, i);
        a = g->edges[i].to;
    }
    return 1;
}

static uint32_t graph_detour(const struct topo *t, uint32_t a, uint32_t b, uint64_t random)
{
    (void)a, (void)b;
    return topo_below(random, t->switches);
}

/* Switches on a circle, nodes outside of it. */
static void graph_position(const struct topo *t, uint32_t s, double *x, double *y)
{
    double angle = 2 * M_PI * s / t->switches, radius = t->switches == 1 ? 0 : 0.3;
    *x = 0.5 + radius * sin(angle);
    *y = 0.5 - radius * cos(angle);
}

static void graph_node_position(const struct topo *t, uint32_t node, double *x, double *y)
{
    const struct topo_graph *g = t->u.graph;
    uint32_t s = g->at[node], first = g->nodes_first[s], n = g->nodes_first[s + 1] - first, i = 0;
    while (g->nodes[first + i] != node)
        i++;
    double angle = 2 * M_PI * (s + (i + 0.5) / n - 0.5) / t->switches;
    *x = 0.5 + 0.42 * sin(angle);
    *y = 0.5 - 0.42 * cos(angle);
}

static const char *const uses[] = {"net.topology.file", "net.topology.bandwidth", NULL};

const struct topo_ops topo_graph_ops = {
    .name = "graph",
    .uses = uses,
    .init = graph_init,
    .fini = graph_fini,
    .degree = graph_degree,
    .port = graph_port,
    .ends = graph_ends,
    .minimal = graph_minimal,
    .hops = graph_hops,
    .detour = graph_detour,
    .position = graph_position,
    .node_position = graph_node_position,
};
