/*
 * nodes.c - placement of ranks on nodes, checked against the size of the machine.
 */
#include "platform/nodes.h"

#include <string.h>

#include "base/units.h"

static int too_small(uint64_t ranks, uint64_t needed, uint64_t count, struct err *err)
{
    char r[UNITS_TEXT_MAX], n[UNITS_TEXT_MAX], c[UNITS_TEXT_MAX];

    return err_set(err, ERR_INPUT,
                   "nodes.count: %s ranks need %s nodes, but the machine has %s; raise nodes.count "
                   "or nodes.ranks", units_format_count(r, sizeof r, ranks),
                   units_format_count(n, sizeof n, needed), units_format_count(c, sizeof c, count));
}

static int place_by_list(struct platform_nodes *n, const struct platform *p, struct err *err)
{
    const struct platform_list *map = &p->lists[PLATFORM_MAP];
    uint32_t last = 0;

    if (map->count == 0 || map->count > UINT32_MAX)
        return err_set(err, ERR_INPUT,
                       "nodes.placement: a list needs nodes.map, the node of each rank, in the "
                       "platform file");
    n->map = map->items;
    n->map_len = (uint32_t)map->count;
    for (uint32_t i = 0; i < n->map_len; i++)
        if (n->map[i] > last)
            last = n->map[i];
    if (n->count == 0)
        n->count = last + 1;
    if (last >= n->count)
        return err_set(err, ERR_INPUT, "nodes.map: there is no node %u, the machine has %u nodes",
                       last, n->count);
    return 0;
}

int platform_nodes_init(struct platform_nodes *n, const struct platform *p, uint64_t ranks,
                        struct err *err)
{
    const struct platform_config *c = &p->config;
    uint64_t per_node = c->nodes_ranks < UINT32_MAX ? c->nodes_ranks : UINT32_MAX;
    uint64_t needed = (ranks + per_node - 1) / per_node;

    memset(n, 0, sizeof *n);
    n->per_node = (uint32_t)per_node;
    if (c->nodes_count > UINT32_MAX)
        return err_set(err, ERR_INPUT, "nodes.count: at most 2^32 - 1 nodes");
    n->count = (uint32_t)c->nodes_count;
    if (strcmp(c->nodes_placement, "list") == 0) {
        n->placement = PLATFORM_LIST;
        return place_by_list(n, p, err);
    }
    if (strcmp(c->nodes_placement, "cyclic") == 0)
        n->placement = PLATFORM_CYCLIC;
    else if (strcmp(c->nodes_placement, "block") != 0)
        return err_set(err, ERR_INPUT, "nodes.placement: unknown placement '%s': expected one of: "
                       "block, cyclic, list", c->nodes_placement);
    if (n->count && needed > n->count)
        return too_small(ranks, needed, n->count, err);
    if (n->count == 0)
        n->count = (uint32_t)(needed ? needed : 1);
    return 0;
}
