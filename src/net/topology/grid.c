/*
 * grid.c - torus and mesh: a router at each point of a grid, connected to its neighbours in every
 * dimension.
 *
 * Router s has the coordinates x[d] = s / stride[d] % size[d], so the first dimension varies
 * fastest. Its link in the direction + or - of dimension d has the number s * 2 * dims + 2 * d +
 * (0: +, 1: -). In a mesh, links across the edge do not exist. In a torus a dimension of size 2 has
 * two cables, one for each direction.
 *
 * Routes go dimension by dimension, in each in the shorter direction. A choice has these digits:
 * the dimension to begin with (the others follow cyclically), and for each dimension in which both
 * directions are equally long, which one (0: +).
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "net/topology/topology_internal.h"

/* Sizes of the given number of dimensions, as close to a cube as possible, for at least `points`
 * points. */
static void choose_dims(struct platform_dims *out, uint64_t points)
{
    uint64_t left = points;
    out->count = 3;
    for (uint32_t d = 0; d < 3; d++) {
        out->size[d] = topo_root(left, 3 - d);
        left = (left + out->size[d] - 1) / out->size[d];
    }
}

static int grid_init(struct topo *t, const struct platform *p, uint32_t nodes, int wrap,
                     struct err *err)
{
    struct topo_grid *g = &t->u.grid;
    struct platform_dims dims = p->config.topo_dims;
    uint64_t per = p->config.topo_nodes, points = 1;
    char shape[TOPO_SHAPE_MAX];
    if (per > UINT32_MAX)
        return err_set(err, ERR_INPUT, "net.topology.nodes: too many");
    if (dims.count == 0)
        choose_dims(&dims, (nodes + per - 1) / per);
    for (uint32_t d = 0; d < dims.count; d++) {
        if (dims.size[d] == 0)
            return err_set(err, ERR_INPUT, "net.topology.dims: '%s' has a dimension of size 0",
                           topo_shape(shape, &dims));
        if (dims.size[d] > 1) {
            g->size[g->count] = dims.size[d];
            g->stride[g->count++] = (uint32_t)points;
        }
        points *= dims.size[d];
        if (points > UINT32_MAX)
            break;
    }
    g->wrap = wrap;
    t->per_switch = (uint32_t)per;
    t->used = 0;
    for (uint32_t d = 0; d < g->count; d++)
        t->used += points / g->size[d] * 2 * (wrap ? g->size[d] : g->size[d] - 1);
    return topo_set_size(t, points, points * per, points * 2 * g->count, nodes, "net.topology.dims",
                         topo_shape(shape, &dims), err);
}

static int torus_init(struct topo *t, const struct platform *p, uint32_t nodes, struct err *err)
{
    return grid_init(t, p, nodes, 1, err);
}

static int mesh_init(struct topo *t, const struct platform *p, uint32_t nodes, struct err *err)
{
    return grid_init(t, p, nodes, 0, err);
}

static uint32_t coordinate(const struct topo_grid *g, uint32_t s, uint32_t d)
{
    return s / g->stride[d] % g->size[d];
}

/* The neighbour one step further, which must exist. */
static uint32_t step(const struct topo_grid *g, uint32_t s, uint32_t d, uint32_t back)
{
    uint32_t x = coordinate(g, s, d), ring = g->stride[d] * (g->size[d] - 1);
    if (back)
        return x == 0 ? s + ring : s - g->stride[d];
    return x + 1 == g->size[d] ? s - ring : s + g->stride[d];
}

static int over_edge(const struct topo_grid *g, uint32_t s, uint32_t d, uint32_t back)
{
    return !g->wrap && coordinate(g, s, d) == (back ? 0 : g->size[d] - 1);
}

static uint32_t grid_degree(const struct topo *t, uint32_t s)
{
    const struct topo_grid *g = &t->u.grid;
    uint32_t n = 0;
    for (uint32_t k = 0; k < 2 * g->count; k++)
        n += !over_edge(g, s, k / 2, k % 2);
    return n;
}

static struct topo_port grid_port(const struct topo *t, uint32_t s, uint32_t i)
{
    const struct topo_grid *g = &t->u.grid;
    uint32_t k = 0;
    for (;; k++) {
        if (over_edge(g, s, k / 2, k % 2))
            continue;
        if (i-- == 0)
            break;
    }
    return (struct topo_port){step(g, s, k / 2, k % 2), s * 2 * g->count + k};
}

static struct topo_ends grid_ends(const struct topo *t, uint32_t link)
{
    const struct topo_grid *g = &t->u.grid;
    uint32_t s = link / (2 * g->count), k = link % (2 * g->count);
    return (struct topo_ends){s, step(g, s, k / 2, k % 2), TOPO_LOCAL};
}

/* The number of steps in direction +, and whether that is the shorter one; *tie: both are equally
 * long. */
static uint32_t steps(const struct topo_grid *g, uint32_t a, uint32_t b, uint32_t d, uint32_t *back,
                      int *tie)
{
    uint32_t x = coordinate(g, a, d), y = coordinate(g, b, d), n = g->size[d];
    *tie = 0;
    if (!g->wrap) {
        *back = y < x;
        return *back ? x - y : y - x;
    }
    uint32_t forward = y >= x ? y - x : y + n - x;
    *back = forward > n - forward;
    *tie = forward != 0 && 2 * (uint64_t)forward == n;
    return *back ? n - forward : forward;
}

static int grid_minimal(const struct topo *t, uint32_t a, uint32_t b, uint64_t choice,
                        struct topo_route *out)
{
    const struct topo_grid *g = &t->u.grid;
    uint32_t d = topo_digit(&choice, g->count), ports = 2 * g->count;
    for (uint32_t k = 0; k < g->count; k++, d = d + 1 == g->count ? 0 : d + 1) {
        uint32_t back, stride = g->stride[d], size = g->size[d];
        int tie;
        uint32_t left = steps(g, a, b, d, &back, &tie);
        if (left == 0)
            continue;
        if (tie)
            back = topo_digit(&choice, 2);
        uint32_t x = coordinate(g, a, d), ring = stride * (size - 1);
        for (; left; left--) {
            topo_push_cable(t, out, a * ports + 2 * d + back);
            if (back) {
                a = x == 0 ? a + ring : a - stride;
                x = x == 0 ? size - 1 : x - 1;
            } else {
                a = x + 1 == size ? a - ring : a + stride;
                x = x + 1 == size ? 0 : x + 1;
            }
        }
    }
    return 1;
}

static struct topo_hops grid_hops(const struct topo *t, uint32_t a, uint32_t b)
{
    const struct topo_grid *g = &t->u.grid;
    struct topo_hops hops = {0, 0};
    for (uint32_t d = 0; d < g->count; d++) {
        uint32_t back;
        int tie;
        hops.local += steps(g, a, b, d, &back, &tie);
    }
    return hops;
}

static uint32_t grid_detour(const struct topo *t, uint32_t a, uint32_t b, uint64_t random)
{
    (void)a, (void)b;
    return topo_below(random, t->switches);
}

/* Even dimensions are drawn to the right, odd ones down; later ones take larger steps. A third
 * dimension alone is drawn diagonally, as in drawings of cubes. */
static void grid_position(const struct topo *t, uint32_t s, double *x, double *y)
{
    const struct topo_grid *g = &t->u.grid;
    double at[2] = {0, 0}, span[2] = {1, 1};
    if (g->count == 1 && g->wrap) {
        double angle = 2 * M_PI * s / g->size[0];
        *x = 0.5 + 0.36 * sin(angle);
        *y = 0.5 - 0.36 * cos(angle);
        return;
    }
    if (g->count == 3) {
        double depth = (double)coordinate(g, s, 2) / g->size[2];
        at[0] = 0.7 * depth;
        at[1] = 0.4 * depth;
    }
    for (uint32_t d = 0; d < g->count && (d < 2 || g->count > 3); d++) {
        double gap = d < 2 ? 1 : 1.15; /* between tiles */
        at[d % 2] += coordinate(g, s, d) * span[d % 2] * gap;
        span[d % 2] *= g->size[d] * gap;
    }
    *x = (at[0] + 0.3) / span[0];
    *y = (at[1] + 0.3) / span[1];
}

static const char *const uses[] = {
    "net.topology.dims",
    "net.topology.nodes",
    "net.topology.bandwidth",
    NULL,
};

#define GRID                                                                   \
    .uses = uses, .degree = grid_degree, .port = grid_port, .ends = grid_ends, \
    .minimal = grid_minimal, .hops = grid_hops, .detour = grid_detour, .position = grid_position

const struct topo_ops topo_torus_ops = {.name = "torus", .init = torus_init, GRID};
const struct topo_ops topo_mesh_ops = {.name = "mesh", .init = mesh_init, GRID};

uint32_t topo_grid_size(const struct topo *t, uint32_t d)
{
    int is_grid = t->ops == &topo_torus_ops || t->ops == &topo_mesh_ops;
    return is_grid && d < t->u.grid.count ? t->u.grid.size[d] : 0;
}
