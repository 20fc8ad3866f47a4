/*
 * hypercube.c - 2^n routers, each connected to those whose number differs in one bit. The link of
 * router s that changes bit d has the number s * n + d.
 *
 * Routes change the bits that differ one by one, from the lowest (e-cube routing); the digit of a
 * choice is the bit to begin with, and the others follow cyclically.
 */
#include <math.h>
#include <stdio.h>

#include "net/topology/topology_internal.h"

static int cube_init(struct topo *t, const struct platform *p, uint32_t nodes, struct err *err)
{
    const struct platform_dims *given = &p->config.topo_dims;
    uint64_t per = p->config.topo_nodes;
    uint32_t dims = 0;
    char shape[TOPO_SHAPE_MAX];
    if (given->count > 1 || (given->count == 1 && given->size[0] > 30))
        return err_set(err, ERR_INPUT,
                       "net.topology.dims: '%s' for a hypercube: expected the number of its "
                       "dimensions, at most 30",
                       topo_shape(shape, given));
    if (per > UINT32_MAX)
        return err_set(err, ERR_INPUT, "net.topology.nodes: too many");
    if (given->count == 1)
        dims = given->size[0];
    else
        while (per << dims < nodes)
            dims++;
    uint64_t routers = (uint64_t)1 << dims;
    t->u.cube.dims = dims;
    t->per_switch = (uint32_t)per;
    t->used = routers * dims;
    snprintf(shape, sizeof shape, "%u", dims);
    return topo_set_size(t, routers, routers * per, routers * dims, nodes, "net.topology.dims",
                         shape, err);
}

static uint32_t cube_degree(const struct topo *t, uint32_t s)
{
    (void)s;
    return t->u.cube.dims;
}

static struct topo_port cube_port(const struct topo *t, uint32_t s, uint32_t i)
{
    return (struct topo_port){s ^ (uint32_t)1 << i, s * t->u.cube.dims + i};
}

static struct topo_ends cube_ends(const struct topo *t, uint32_t link)
{
    uint32_t s = link / t->u.cube.dims;
    return (struct topo_ends){s, s ^ (uint32_t)1 << link % t->u.cube.dims, TOPO_LOCAL};
}

static int cube_minimal(const struct topo *t, uint32_t a, uint32_t b, uint64_t choice,
                        struct topo_route *out)
{
    uint32_t dims = t->u.cube.dims, first = topo_digit(&choice, dims);
    uint32_t early = ~(uint32_t)0 << first; /* bits that are changed before the others */
    for (uint32_t half = 0; half < 2; half++) {
        for (uint32_t left = (a ^ b) & (half ? ~early : early); left; left &= left - 1) {
            uint32_t d = (uint32_t)__builtin_ctz(left);
            topo_push_cable(t, out, a * dims + d);
            a ^= (uint32_t)1 << d;
        }
    }
    return 1;
}

static struct topo_hops cube_hops(const struct topo *t, uint32_t a, uint32_t b)
{
    (void)t;
    return (struct topo_hops){(uint32_t)__builtin_popcount(a ^ b), 0};
}

static uint32_t cube_detour(const struct topo *t, uint32_t a, uint32_t b, uint64_t random)
{
    (void)a, (void)b;
    return topo_below(random, t->switches);
}

/* Every dimension is drawn as an arrow; together they fan out over a quarter of a circle, getting
 * shorter. */
static void cube_position(const struct topo *t, uint32_t s, double *x, double *y)
{
    uint32_t n = t->u.cube.dims;
    double at[2] = {0, 0}, span[2] = {0, 0};
    for (uint32_t d = 0; d < n; d++) {
        double angle = n < 2 ? 0 : M_PI / 2 * (d % 2 ? 1 - 0.5 * d / n : 0.5 * d / n);
        double length = pow(0.62, d);
        double dx = length * cos(angle), dy = length * sin(angle);
        span[0] += dx;
        span[1] += dy;
        if (s >> d & 1) {
            at[0] += dx;
            at[1] += dy;
        }
    }
    *x = span[0] > 0 ? 0.1 + 0.8 * at[0] / span[0] : 0.5;
    *y = span[1] > 0 ? 0.9 - 0.8 * at[1] / span[1] : 0.5;
}

static const char *const uses[] = {
    "net.topology.dims",
    "net.topology.nodes",
    "net.topology.bandwidth",
    NULL,
};

const struct topo_ops topo_cube_ops = {
    .name = "hypercube",
    .uses = uses,
    .init = cube_init,
    .degree = cube_degree,
    .port = cube_port,
    .ends = cube_ends,
    .minimal = cube_minimal,
    .hops = cube_hops,
    .detour = cube_detour,
    .position = cube_position,
};
