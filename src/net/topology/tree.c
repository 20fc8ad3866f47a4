/*
 * tree.c - fat trees: every switch has `down` children and `up` parents, with some cables to each
 * parent; all of it may differ from level to level (parallel-ports generalized fat trees: Zahavi,
 * "D-Mod-K routing providing non-blocking traffic for shift permutations on real life fat trees",
 * 2010).
 *
 * Let D[i] be the product of down[0 .. i], and width[i] that of up[0 .. i - 1] (the parents of
 * level j are up[j] here). Above the D[i] nodes of a block of level i there are width[i] switches,
 * each of which reaches all of them. Switch number first[i] + block * width[i] + w on level i has
 *
 *     as parents     on level i + 1, block / down[i + 1], w + width[i] * (0 .. up[i] - 1)
 *     as children    on level i - 1, block * down[i] + (0 .. down[i] - 1), w % width[i - 1]
 *
 * so a route goes up, with a free choice of parents, to the lowest level on which both nodes are in
 * one block, and from there down, where only the cable can be chosen. Cable k from switch x of a
 * level to its parent u is number links[i] + (x * up[i] + u) * cables[i] + k; its other direction
 * has the same number, with links[levels] added.
 *
 * A choice has one digit per level: choice % (up * cables) is parent + up * cable, and choice / up
 * is left. With the destination's number this is d-mod-k. Going down, the cable is chosen as going
 * up.
 */
#include <stdio.h>
#include <string.h>

#include "net/topology/topology_internal.h"

#define PORTS 18 /* half the ports of the switches in default trees */

/* Two levels or more, as few as switches with 36 ports allow, with the smallest arity that
 * suffices. */
static void choose_down(struct platform_dims *out, uint32_t nodes)
{
    uint64_t most = PORTS * PORTS;
    out->count = 2;
    for (; most < nodes; most *= PORTS)
        out->count++;
    uint32_t arity = topo_root(nodes, out->count);
    for (uint32_t i = 0; i < out->count; i++)
        out->size[i] = arity < 2 ? 2 : arity;
}

static int check_list(const struct platform_dims *list, uint32_t levels, const char *setting,
                      struct err *err)
{
    char shape[TOPO_SHAPE_MAX];
    if (list->count == 0)
        return 0;
    if (list->count != levels)
        return err_set(err, ERR_INPUT, "%s: '%s' has %u levels: expected %u, as net.topology.down",
                       setting, topo_shape(shape, list), list->count, levels);
    for (uint32_t i = 0; i < levels; i++)
        if (list->size[i] == 0)
            return err_set(err, ERR_INPUT, "%s: '%s' has a 0", setting, topo_shape(shape, list));
    if (list->size[0] != 1 && strcmp(setting, "net.topology.down") != 0)
        return err_set(err, ERR_INPUT,
                       "%s: '%s' begins with %u: expected 1, since a node has one link", setting,
                       topo_shape(shape, list), list->size[0]);
    return 0;
}

/* Numbers switches and links, level by level. */
static int lay_out(struct topo *t, const struct platform_dims *down, uint64_t nodes,
                   uint32_t needed, struct err *err)
{
    struct topo_tree *f = &t->u.tree;
    char shape[TOPO_SHAPE_MAX];
    uint64_t width = 1, blocks = 1, switches = 0, links = 0;
    for (uint32_t i = f->levels; --i > 0;)
        blocks *= f->down[i]; /* at most 2^31 after the check in tree_init */
    for (uint32_t i = 0; i < f->levels; i++) {
        if (i > 0)
            blocks /= f->down[i];
        f->width[i] = (uint32_t)width;
        f->first[i] = (uint32_t)switches;
        f->links[i] = (uint32_t)links;
        switches += blocks * width;
        links += blocks * width * f->up[i] * f->cables[i];
        width *= f->up[i];
        if (switches > UINT32_MAX || links > UINT32_MAX || width > UINT32_MAX)
            break;
    }
    f->first[f->levels] = (uint32_t)switches;
    f->links[f->levels] = (uint32_t)links;
    t->used = 2 * links;
    return topo_set_size(t, switches, nodes, 2 * links, needed, "net.topology.down",
                         topo_shape(shape, down), err);
}

static int tree_init(struct topo *t, const struct platform *p, uint32_t nodes, struct err *err)
{
    struct platform_dims down = p->config.topo_down;
    const struct platform_dims *up = &p->config.topo_up, *cables = &p->config.topo_parallel;
    struct topo_tree *f = &t->u.tree;
    uint64_t all = 1;
    int e;
    if (down.count == 0)
        choose_down(&down, nodes);
    if ((e = check_list(&down, down.count, "net.topology.down", err)) ||
        (e = check_list(up, down.count, "net.topology.up", err)) ||
        (e = check_list(cables, down.count, "net.topology.parallel", err)))
        return e;
    f->levels = down.count;
    for (uint32_t i = 0; i < f->levels; i++) {
        int top = i + 1 == f->levels;
        f->down[i] = down.size[i];
        f->up[i] = top ? 0 : up->count ? up->size[i + 1] : down.size[i];
        f->cables[i] = top ? 0 : cables->count ? cables->size[i + 1] : 1;
        all *= down.size[i];
        if (all > INT32_MAX)
            return err_set(err, ERR_INPUT, "net.topology.down: more than 2^31 nodes");
    }
    t->per_switch = f->down[0];
    return lay_out(t, &down, all, nodes, err);
}

/* The components of a switch's number. */
struct spot {
    uint32_t level, block, w;
};

static struct spot spot_of(const struct topo_tree *f, uint32_t s)
{
    struct spot at = {0, 0, 0};
    while (at.level + 1 < f->levels && s >= f->first[at.level + 1])
        at.level++;
    at.block = (s - f->first[at.level]) / f->width[at.level];
    at.w = (s - f->first[at.level]) % f->width[at.level];
    return at;
}

static uint32_t number(const struct topo_tree *f, uint32_t level, uint32_t block, uint32_t w)
{
    return f->first[level] + block * f->width[level] + w;
}

/* Cable k of the switch on a level to its parent u, upwards. */
static uint32_t cable(const struct topo_tree *f, uint32_t level, uint32_t s, uint32_t u, uint32_t k)
{
    return f->links[level] + ((s - f->first[level]) * f->up[level] + u) * f->cables[level] + k;
}

static uint32_t tree_degree(const struct topo *t, uint32_t s)
{
    const struct topo_tree *f = &t->u.tree;
    uint32_t i = spot_of(f, s).level;
    return f->up[i] * f->cables[i] + (i ? f->down[i] * f->cables[i - 1] : 0);
}

/* First the links up, then those down. */
static struct topo_port tree_port(const struct topo *t, uint32_t s, uint32_t i)
{
    const struct topo_tree *f = &t->u.tree;
    struct spot at = spot_of(f, s);
    uint32_t l = at.level, ups = f->up[l] * f->cables[l];
    if (i < ups) {
        uint32_t u = i / f->cables[l];
        return (
            struct topo_port){number(f, l + 1, at.block / f->down[l + 1], at.w + f->width[l] * u),
                              cable(f, l, s, u, i % f->cables[l])};
    }
    i -= ups;
    uint32_t child = number(f, l - 1, at.block * f->down[l] + i / f->cables[l - 1],
                            at.w % f->width[l - 1]);
    return (struct topo_port){child,
                              f->links[f->levels] + cable(f, l - 1, child, at.w / f->width[l - 1],
                                                          i % f->cables[l - 1])};
}

static struct topo_ends tree_ends(const struct topo *t, uint32_t link)
{
    const struct topo_tree *f = &t->u.tree;
    uint32_t all = f->links[f->levels], down = link >= all, l = 0;
    link -= down ? all : 0;
    while (link >= f->links[l + 1])
        l++;
    link = (link - f->links[l]) / f->cables[l];
    uint32_t child = f->first[l] + link / f->up[l], u = link % f->up[l];
    struct spot at = spot_of(f, child);
    uint32_t parent = number(f, l + 1, at.block / f->down[l + 1], at.w + f->width[l] * u);
    return down ? (struct topo_ends){parent, child, TOPO_LOCAL}
                : (struct topo_ends){child, parent, TOPO_LOCAL};
}

/* From leaf to leaf. */
static int tree_minimal(const struct topo *t, uint32_t a, uint32_t b, uint64_t choice,
                        struct topo_route *out)
{
    const struct topo_tree *f = &t->u.tree;
    uint32_t cables[PLATFORM_DIMS_MAX], parents[PLATFORM_DIMS_MAX], below[PLATFORM_DIMS_MAX];
    uint32_t top = 0, up = a, down = b, w = 0;
    for (; up != down; top++) {
        uint32_t digit = (uint32_t)(choice % (f->up[top] * f->cables[top]));
        choice /= f->up[top];
        parents[top] = digit % f->up[top];
        cables[top] = digit / f->up[top];
        below[top] = number(f, top, down, w);
        topo_push_cable(t, out, cable(f, top, number(f, top, up, w), parents[top], cables[top]));
        w += f->width[top] * parents[top];
        up /= f->down[top + 1];
        down /= f->down[top + 1];
    }
    while (top-- > 0)
        topo_push_cable(t, out,
                        f->links[f->levels] + cable(f, top, below[top], parents[top], cables[top]));
    return 1;
}

/* From any switch to a leaf. */
static struct topo_hops tree_hops(const struct topo *t, uint32_t a, uint32_t b)
{
    const struct topo_tree *f = &t->u.tree;
    struct topo_hops hops = {0, 0};
    struct spot at = spot_of(f, a);
    uint32_t l;
    for (l = 0; l < at.level; l++) {
        b /= f->down[l + 1];
        hops.local++;
    }
    for (; at.block != b; l++) {
        at.block /= f->down[l + 1];
        b /= f->down[l + 1];
        hops.local += 2;
    }
    return hops;
}

static void tree_position(const struct topo *t, uint32_t s, double *x, double *y)
{
    const struct topo_tree *f = &t->u.tree;
    uint32_t l = spot_of(f, s).level;
    *x = (s - f->first[l] + 0.5) / (f->first[l + 1] - f->first[l]);
    *y = 0.95 - 0.9 * (l + 1) / f->levels;
}

static void tree_node_position(const struct topo *t, uint32_t node, double *x, double *y)
{
    *x = (node + 0.5) / t->nodes;
    *y = 0.95;
}

static const char *const uses[] = {
    "net.topology.down", "net.topology.up", "net.topology.parallel", "net.topology.bandwidth", NULL,
};

const struct topo_ops topo_tree_ops = {
    .name = "fat-tree",
    .uses = uses,
    .spread = 1,
    .init = tree_init,
    .degree = tree_degree,
    .port = tree_port,
    .ends = tree_ends,
    .minimal = tree_minimal,
    .hops = tree_hops,
    .position = tree_position,
    .node_position = tree_node_position,
};
