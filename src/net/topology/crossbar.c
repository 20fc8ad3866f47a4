/*
 * crossbar.c - switch and star: all nodes are at one switch without contention. The only links are
 * those of the nodes; in a star some of them differ (net.links).
 */
#include "net/topology/topology_internal.h"

static int crossbar_init(struct topo *t, const struct platform *p, uint32_t nodes, struct err *err)
{
    (void)p;
    t->per_switch = nodes;
    return topo_set_size(t, 1, nodes, 0, nodes, "nodes.count", "", err);
}

static uint32_t crossbar_degree(const struct topo *t, uint32_t s)
{
    (void)t, (void)s;
    return 0;
}

/* There is only one switch: none of these is ever called with another. */
static struct topo_port crossbar_port(const struct topo *t, uint32_t s, uint32_t i)
{
    (void)t, (void)i;
    return (struct topo_port){s, 0};
}

static struct topo_ends crossbar_ends(const struct topo *t, uint32_t link)
{
    (void)t, (void)link;
    return (struct topo_ends){0, 0, TOPO_LOCAL};
}

static int crossbar_minimal(const struct topo *t, uint32_t a, uint32_t b, uint64_t choice,
                            struct topo_route *out)
{
    (void)t, (void)choice, (void)out;
    return a == b;
}

static struct topo_hops crossbar_hops(const struct topo *t, uint32_t a, uint32_t b)
{
    (void)t, (void)a, (void)b;
    return (struct topo_hops){0, 0};
}

static void crossbar_position(const struct topo *t, uint32_t s, double *x, double *y)
{
    (void)t, (void)s;
    *x = *y = 0.5;
}

static const char *const uses[] = {NULL};

#define CROSSBAR                                                                           \
    .uses = uses, .init = crossbar_init, .degree = crossbar_degree, .port = crossbar_port, \
    .ends = crossbar_ends, .minimal = crossbar_minimal, .hops = crossbar_hops,             \
    .position = crossbar_position

const struct topo_ops topo_switch_ops = {.name = "switch", CROSSBAR};
const struct topo_ops topo_star_ops = {.name = "star", CROSSBAR};
