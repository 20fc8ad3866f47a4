/* Property test of topologies and routings: random machines against topology_oracle.h.
 *
 * Of every topology: ports, links and their ends agree in both directions. Of every way: it is a
 * chain of links from its source to its destination. Of minimal, dmodk and ecmp: no way is shorter,
 * and topo_distance says how long it is. With links down from a time on: ways avoid them from then
 * on if there is a way, and else are an error.
 *
 * Of any settings at all: they make a machine whose ways are good, or are an error.
 *
 * Links between groups of a dragonfly are so long here that "shortest" means by one of them at
 * most.
 *
 * Usage: prop_topology [SEED [CASES]]
 */
#include "topology_oracle.h"

#include <math.h>
#include <stdio.h>

#include "base/rng.h"
#include "tap.h"

static struct rng rng;
static struct platform machine;
static struct err err;
static char settings[400];
static uint32_t needed;

static uint32_t below(uint32_t n)
{
    return (uint32_t)rng_below(&rng, n);
}

__attribute__((format(printf, 1, 2))) static void set(const char *fmt, ...)
{
    va_list args;
    size_t used = strlen(settings);
    va_start(args, fmt);
    vsnprintf(settings + used, sizeof settings - used, fmt, args);
    va_end(args);
}

static uint32_t set_list(const char *key, int n, uint32_t first, uint32_t most)
{
    uint32_t product = 1;
    set(",net.topology.%s=", key);
    for (int i = 0; i < n; i++) {
        uint32_t x = i == 0 && first ? first : 1 + below(most);
        set("%s%u", i ? "x" : "", x);
        product *= x;
    }
    return product;
}

/* A machine of the kind that needs `needed` nodes. */
static void random_machine(const char *kind)
{
    uint32_t room = 0;
    snprintf(settings, sizeof settings,
             "net.topology.kind=%s,net.hop_latency=1ns,net.topology.global_latency=1us", kind);
    needed = 2 + below(60);
    if (below(4) == 0)
        return; /* whatever holds them */
    if (strcmp(kind, "torus") == 0 || strcmp(kind, "mesh") == 0) {
        uint32_t per = 1 + below(3);
        set(",net.topology.nodes=%u", per);
        room = per * set_list("dims", 1 + (int)below(4), 0, 4);
    } else if (strcmp(kind, "fat-tree") == 0) {
        int levels = 1 + (int)below(4);
        room = set_list("down", levels, 0, 4);
        if (below(2))
            set_list("up", levels, 1, 3);
        if (below(2))
            set_list("parallel", levels, 1, 3);
    } else if (strcmp(kind, "dragonfly") == 0) {
        uint32_t a = 1 + below(4), h = 1 + below(3), per = 1 + below(2);
        uint32_t g = below(3) ? 1 + below(a * h + 1) : 0;
        set(",net.topology.groups=%u,net.topology.routers=%u,net.topology.global=%u", g, a, h);
        set(",net.topology.nodes=%u", per);
        room = (g ? g : a * h + 1) * a * per;
    } else if (strcmp(kind, "hypercube") == 0) {
        uint32_t per = 1 + below(3), dims = below(6);
        set(",net.topology.nodes=%u", per);
        if (dims) {
            set(",net.topology.dims=%u", dims);
            room = per << dims;
        }
    }
    if (room)
        needed = room;
}

static void free_lists(void)
{
    for (int i = 0; i < PLATFORM_LISTS; i++)
        free(machine.lists[i].items);
    memset(machine.lists, 0, sizeof machine.lists);
}

static void add_edge(uint32_t from, uint32_t to)
{
    struct platform_list *list = &machine.lists[PLATFORM_EDGES];
    struct platform_edge *edges = realloc(list->items, (list->count + 2) * sizeof *edges);
    vtime latency = below(3) ? VTIME_NEVER : VTIME_NS;
    edges[list->count++] = (struct platform_edge){from, to, NAN, latency, NAN, UINT64_MAX};
    edges[list->count++] = (struct platform_edge){to, from, NAN, latency, NAN, UINT64_MAX};
    list->items = edges;
}

/* Switches in a tree with some more cables, and nodes at them or, some, between them. */
static void random_graph(void)
{
    uint32_t switches = 1 + below(20);
    for (uint32_t s = 1; s < switches; s++)
        add_edge(s | PLATFORM_SWITCH, below(s) | PLATFORM_SWITCH);
    for (uint32_t i = below(2 * switches); i > 0 && switches > 1; i--) {
        uint32_t a = below(switches), b = below(switches);
        if (a != b)
            add_edge(a | PLATFORM_SWITCH, b | PLATFORM_SWITCH);
    }
    for (uint32_t n = 0; n < needed; n++) {
        add_edge(n, below(switches) | PLATFORM_SWITCH);
        if (below(8) == 0 && n > 0)
            add_edge(n, below(n));
    }
}

static void add_fault(const struct oracle *o, uint32_t link, vtime at)
{
    struct platform_list *list = &machine.lists[PLATFORM_LINKS];
    struct platform_link *items = realloc(list->items, (list->count + 1) * sizeof *items);
    struct platform_link *item = &items[list->count++];
    uint32_t nodes = topo_nodes(o->topo), ends[2] = {o->links[link].from, o->links[link].to};
    *item = (struct platform_link){.bandwidth = NAN,
                                   .latency = VTIME_NEVER,
                                   .error_rate = NAN,
                                   .mtu = UINT64_MAX,
                                   .at = at};
    item->both = below(2);
    for (int i = 0; i < 2; i++)
        snprintf(i ? item->to : item->from, PLATFORM_NAME_MAX, "%c%u", ends[i] < nodes ? 'n' : 's',
                 ends[i] < nodes ? ends[i] : ends[i] - nodes);
    list->items = items;
}

static double some_load(void *owner, uint32_t link)
{
    return (double)((link * 2654435761u ^ *(uint32_t *)owner) >> 24);
}

/* One way; 0 with a comment: it is wrong. */
static int check_route(struct oracle *o, uint32_t src, uint32_t dst, vtime at, int shortest)
{
    uint32_t seed = below(1000);
    struct topo_load load = {some_load, &seed}, *with = below(2) ? &load : NULL;
    struct topo_route r = {0}, again = {0};
    uint64_t salt = rng_next(&rng);
    int e = topo_route(o->topo, src, dst, salt, at, with, &r, &err), good;
    if (o->dist[dst] == VTIME_NEVER) {
        good = e == ERR_INPUT && strstr(err.text, "no route");
    } else {
        vtime length = e ? -1 : oracle_length(o, &r, src, dst, at);
        good = !e && length >= o->dist[dst] && (!shortest || length == o->dist[dst]);
        good = good && topo_route(o->topo, src, dst, salt, at, with, &again, &err) == 0 &&
               again.count == r.count && !memcmp(again.links, r.links, 4 * r.count);
    }
    if (!good)
        diag("n%u to n%u: %d links, error %d, oracle %lld", src, dst, (int)r.count, e,
             (long long)o->dist[dst]);
    topo_route_fini(&r);
    topo_route_fini(&again);
    return good;
}

static int check_routes(struct oracle *o, const char *routing, vtime at, int faults)
{
    uint32_t nodes = topo_nodes(o->topo);
    int shortest = !faults && strcmp(routing, "valiant") && strcmp(routing, "adaptive");
    for (int k = 0; k < 3; k++) {
        uint32_t src = below(nodes);
        oracle_from(o, src, at);
        for (int j = 0; j < 10; j++) {
            uint32_t dst = below(nodes);
            if (src == dst)
                continue;
            if (!check_route(o, src, dst, at, shortest))
                return 0;
            if (topo_least_latency(o->topo) > o->dist[dst]) {
                diag("the least latency is larger than that from n%u to n%u", src, dst);
                return 0;
            }
            if (!faults && topo_distance(o->topo, src, dst) != o->dist[dst]) {
                diag("distance of n%u and n%u is not %lld", src, dst, (long long)o->dist[dst]);
                return 0;
            }
        }
    }
    return 1;
}

/* All of it for one machine and routing. */
static int check(const char *routing)
{
    struct topo *t;
    struct oracle o;
    vtime at = 5 * VTIME_US;
    platform_config_init(&machine.config);
    strcpy(machine.config.net_routing, routing);
    if (platform_set(&machine, settings, NULL, &err) || topo_create(&t, &machine, needed, &err)) {
        diag("%s", err.text);
        return 0;
    }
    const char *wrong = oracle_init(&o, t);
    if (!wrong && !oracle_symmetric(&o))
        wrong = "there are not as many cables back";
    if (wrong)
        diag("%s", wrong);
    int good = !wrong && topo_nodes(t) >= needed;
    good = good && (topo_nodes(t) < 2 || check_routes(&o, routing, 0, 0));
    for (uint32_t i = 1 + below(6); i > 0 && good; i--) {
        uint32_t link = below(o.bound);
        if (o.exists[link])
            add_fault(&o, link, below(3) ? at : 0);
    }
    topo_destroy(t);
    oracle_fini(&o);
    if (good && topo_create(&t, &machine, needed, &err)) {
        diag("%s", err.text);
        return 0;
    }
    if (good) {
        good = !oracle_init(&o, t) && (topo_nodes(t) < 2 || (check_routes(&o, routing, at, 1) &&
                                                             check_routes(&o, routing, at - 1, 1)));
        oracle_fini(&o);
        topo_destroy(t);
    }
    return good;
}

/* ---- any settings ---- */

#define LONGEST 10000 /* links of a way that are looked at */

static uint32_t any_size(void)
{
    static const uint32_t odd[] = {0, 1, 2, 3, 30, 31, 32, 65535, 65536, 0x7fffffff, UINT32_MAX};
    return below(3) ? 1 + below(20) : odd[below(sizeof odd / sizeof odd[0])];
}

static void any_dims(struct platform_dims *out)
{
    out->count = below(2) ? below(PLATFORM_DIMS_MAX + 1) : below(4);
    for (uint32_t d = 0; d < out->count; d++)
        out->size[d] = any_size();
}

static void any_machine(const char *kind)
{
    struct platform_config *c = &machine.config;
    platform_config_init(c);
    c->net_hop_latency = VTIME_NS;
    strcpy(c->topo_kind, kind);
    strcpy(c->net_routing, topo_routing_name(below(5)));
    any_dims(&c->topo_dims);
    any_dims(&c->topo_down);
    any_dims(&c->topo_up);
    any_dims(&c->topo_parallel);
    c->topo_groups = below(2) ? any_size() : 0;
    c->topo_routers = any_size();
    c->topo_nodes = below(2) ? 1 : 1 + (uint64_t)any_size();
    c->topo_global = any_size();
    if (below(2))
        c->topo_up.count = 0;
    if (below(2))
        c->topo_parallel.count = 0;
}

/* A chain of links, seen from the links alone. */
static int is_chain(const struct topo *t, const struct topo_route *r, uint32_t src, uint32_t dst)
{
    uint32_t v = src;
    for (uint32_t i = 0; i < r->count; i++) {
        struct topo_link link;
        topo_link_at(t, r->links[i], 0, &link);
        if (link.from != v)
            return 0;
        v = link.to;
    }
    return v == dst;
}

static int check_any(const char *kind)
{
    struct topo *t = NULL;
    struct topo_route r = {0};
    int good = 1;
    any_machine(kind);
    memset(&err, 0, sizeof err);
    uint32_t need = any_size();
    if (topo_create(&t, &machine, need, &err))
        return err.code == ERR_INPUT && err.text[0] != 0;
    uint32_t n = topo_nodes(t);
    good = n >= need;
    for (int i = 0; i < 4 && good && n > 1; i++) {
        uint32_t src = below(n), dst = below(n);
        if (src == dst)
            continue;
        if (topo_distance(t, src, dst) > LONGEST * machine.config.net_hop_latency)
            continue; /* a ring of millions */
        good = topo_route(t, src, dst, rng_next(&rng), 0, NULL, &r, &err) == 0 &&
               is_chain(t, &r, src, dst);
    }
    topo_route_fini(&r);
    topo_destroy(t);
    return good;
}

int main(int argc, char **argv)
{
    uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 0) : 1;
    int cases = argc > 2 ? atoi(argv[2]) : 12;
    plan_auto();
    diag("seed %llu", (unsigned long long)seed);
    rng_seed(&rng, seed);
    for (unsigned k = 0; topo_kind_name(k); k++) {
        for (unsigned r = 0; topo_routing_name(r); r++) {
            int good = 1;
            for (int i = 0; i < cases && good; i++) {
                random_machine(topo_kind_name(k));
                if (strcmp(topo_kind_name(k), "graph") == 0)
                    random_graph();
                good = check(topo_routing_name(r));
                if (!good)
                    diag("case %d: %u nodes, %s", i, needed, settings);
                free_lists();
            }
            ok(good, "%s, %s", topo_kind_name(k), topo_routing_name(r));
        }
    }
    for (unsigned k = 0; topo_kind_name(k); k++) {
        int good = 1;
        for (int i = 0; i < 50 * cases && good; i++)
            good = check_any(topo_kind_name(k));
        ok(good, "%s, any settings", topo_kind_name(k));
    }
    return done_testing();
}
