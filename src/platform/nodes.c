/*
 * nodes.c - placement of ranks on nodes, checked against the size of the machine.
 */
#include "platform/nodes.h"

#include <stdio.h>
#include <string.h>

#include "base/units.h"

static int too_small(uint64_t ranks, uint64_t needed, uint64_t count, struct err *err)
{
    char r[UNITS_TEXT_MAX], n[UNITS_TEXT_MAX], c[UNITS_TEXT_MAX];

    return err_set(err, ERR_INPUT,
                   "nodes.count: %s ranks need %s nodes, but the machine has %s; raise nodes.count "
                   "or nodes.ranks",
                   units_format_count(r, sizeof r, ranks), units_format_count(n, sizeof n, needed),
                   units_format_count(c, sizeof c, count));
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

static int check_noise(vtime period, vtime duration, const char *where, struct err *err)
{
    if (duration > 0 && duration >= period)
        return err_set(err, ERR_INPUT, "%s.noise_duration: must be shorter than the period", where);
    return 0;
}

/* Does the noise leave time to compute between interruptions? */
static int check_all_noise(const struct platform *p, struct err *err)
{
    const struct platform_config *c = &p->config;
    const struct platform_list *groups = &p->lists[PLATFORM_GROUPS];
    const struct platform_list *record = &p->lists[PLATFORM_NOISE];
    const struct platform_noise *noise = record->items;
    int rc = check_noise(c->nodes_noise_period, c->nodes_noise_duration, "nodes", err);
    vtime end = 0, busy = 0;

    for (size_t i = 0; i < groups->count && rc == 0; i++) {
        const struct platform_group *g = (const struct platform_group *)groups->items + i;
        char where[64];

        snprintf(where, sizeof where, "nodes.groups[%zu]", i);
        if (g->noise_duration != VTIME_NEVER)
            rc = check_noise(g->noise_period != VTIME_NEVER ? g->noise_period
                                                            : c->nodes_noise_period,
                             g->noise_duration, where, err);
    }
    for (size_t i = 0; i < record->count; i++) {
        end = vtime_add(noise[i].start, noise[i].duration);
        busy = vtime_add(busy, noise[i].duration);
    }
    if (rc == 0 && record->count && busy >= end)
        rc = err_set(err, ERR_INPUT, "nodes.noise_file: leaves no time between interruptions");
    return rc;
}

int platform_nodes_init(struct platform_nodes *n, const struct platform *p, uint64_t ranks,
                        struct err *err)
{
    const struct platform_config *c = &p->config;
    uint64_t per_node = c->nodes_ranks < UINT32_MAX ? c->nodes_ranks : UINT32_MAX;
    uint64_t needed = (ranks + per_node - 1) / per_node;

    memset(n, 0, sizeof *n);
    if (check_all_noise(p, err))
        return ERR_INPUT;
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
        return err_set(err, ERR_INPUT,
                       "nodes.placement: unknown placement '%s': expected one of: "
                       "block, cyclic, list",
                       c->nodes_placement);
    if (n->count && needed > n->count)
        return too_small(ranks, needed, n->count, err);
    if (n->count == 0)
        n->count = (uint32_t)(needed ? needed : 1);
    return 0;
}
