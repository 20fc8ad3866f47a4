/*
 * sharing.c - slowdown by the number of ranks per node, and how many ranks a node has.
 */
#include "platform/sharing.h"

#include "base/mem.h"

/* The factor for a mixture: each part of the work has its own factor. */
static double mixed(const struct platform_config *c, const struct platform_sharing *s)
{
    double streaming = c->nodes_streaming_part, random = c->nodes_random_part;

    return streaming * s->streaming + random * s->random + (1 - streaming - random) * s->in_cache;
}

double platform_sharing_factor(const struct platform *p, uint64_t busy)
{
    const struct platform_list *list = &p->lists[PLATFORM_SHARING];
    const struct platform_sharing *s = list->items;
    double before = 1, factor;
    uint64_t at = 1;

    for (size_t i = 0; i < list->count; i++) {
        factor = mixed(&p->config, &s[i]);
        if (busy <= s[i].busy) {
            uint64_t span = s[i].busy - at;

            return busy < s[i].busy && span
                       ? before + (factor - before) * (double)(busy - at) / (double)span
                       : factor;
        }
        before = factor;
        at = s[i].busy;
    }
    return before;
}

static uint64_t listed_on_node(const struct platform_nodes *n, uint32_t node, uint64_t ranks)
{
    uint64_t count = 0;

    for (uint32_t i = 0; i < n->map_len; i++)
        if (n->map[i] == node)
            count += ranks / n->map_len + (i < ranks % n->map_len);
    return count;
}

uint64_t platform_ranks_on_node(const struct platform_nodes *n, uint32_t node, uint64_t ranks)
{
    uint64_t blocks = ranks / n->per_node, rest = ranks % n->per_node;

    if (n->placement == PLATFORM_LIST)
        return listed_on_node(n, node, ranks);
    if (n->placement == PLATFORM_CYCLIC)
        return ranks / n->count + (node < ranks % n->count);
    return (blocks / n->count + (node < blocks % n->count)) * n->per_node +
           (blocks % n->count == node ? rest : 0);
}

static int list_is_even(const struct platform_nodes *n, uint64_t ranks)
{
    uint64_t *on_node = mem_zalloc(n->count * sizeof *on_node), some = 0;
    int even = 1;

    for (uint64_t i = 0; i < ranks; i++)
        some = ++on_node[n->map[i % n->map_len]];
    for (uint32_t i = 0; i < n->count; i++)
        even &= on_node[i] == 0 || on_node[i] == some;
    mem_free(on_node);
    return even;
}

int platform_nodes_are_even(const struct platform_nodes *n, uint64_t ranks)
{
    uint64_t blocks = ranks / n->per_node;

    if (n->placement == PLATFORM_LIST)
        return list_is_even(n, ranks);
    if (n->placement == PLATFORM_CYCLIC)
        return ranks <= n->count || ranks % n->count == 0;
    if (ranks <= n->per_node)
        return 1; /* one node has all of them */
    return ranks % n->per_node == 0 && (blocks <= n->count || blocks % n->count == 0);
}
