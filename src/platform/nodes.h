/*
 * nodes.h - which node a rank is on.
 *
 *     block    rank / ranks per node; ranks beyond the last node start again at the first
 *     cyclic   rank modulo the number of nodes
 *     list     from nodes.map, which repeats if there are more ranks
 */
#ifndef PLATFORM_NODES_H
#define PLATFORM_NODES_H

#include "platform/lists.h"

enum platform_placement { PLATFORM_BLOCK = 0, PLATFORM_CYCLIC, PLATFORM_LIST };

struct platform_nodes {
    uint32_t count; /* nodes that exist, at least those in use */
    uint32_t per_node;
    uint8_t placement; /* enum platform_placement */
    const uint32_t *map;
    uint32_t map_len;
};

/* In place, for that many ranks; the map is borrowed from the machine. ERR_INPUT: the ranks do not
 * fit. */
int platform_nodes_init(struct platform_nodes *, const struct platform *, uint64_t ranks,
                        struct err *);

static inline uint32_t platform_node_of(const struct platform_nodes *n, uint32_t rank)
{
    if (__builtin_expect(n->placement == PLATFORM_BLOCK, 1)) {
        rank = n->per_node == 1 ? rank : rank / n->per_node;
        return __builtin_expect(rank < n->count, 1) ? rank : rank % n->count;
    }
    return n->placement == PLATFORM_CYCLIC ? rank % n->count : n->map[rank % n->map_len];
}

#endif
