/*
 * pairs.c - a table of pairs of bounded size.
 */
#include "analysis/pairs.h"

#include <stdlib.h>

#include "analysis/memory.h"
#include "base/array.h"

void pairs_init(struct pairs *p, size_t most, struct delays *delays)
{
    *p = (struct pairs){.most = most ? most : 1, .generation = 1, .delays = delays};
    map_init(&p->by_ranks);
}

static void forget_snapshot(struct pairs *p, struct delay_snapshot **snapshot)
{
    if (*snapshot)
        p->delays->bytes -= sizeof **snapshot + (*snapshot)->count * sizeof *(*snapshot)->cells;
    mem_free(*snapshot);
    *snapshot = NULL;
}

void pairs_fini(struct pairs *p)
{
    for (size_t i = 0; i < p->count; i++) {
        forget_snapshot(p, &p->items[i].sender);
        forget_snapshot(p, &p->items[i].receiver);
    }
    mem_free(p->items);
    map_fini(&p->by_ranks);
    *p = (struct pairs){0};
}

static uint64_t key(uint32_t from, uint32_t to)
{
    return (uint64_t)from << 32 | to;
}

static void merge(struct pairs *p)
{
    size_t kept = 0;
    map_fini(&p->by_ranks);
    map_init(&p->by_ranks);
    p->shift++;
    p->generation++;
    for (size_t i = 0; i < p->count; i++) {
        struct pair pair = p->items[i];
        int is_new;
        pair.from /= 2;
        pair.to /= 2;
        forget_snapshot(p, &pair.sender);
        forget_snapshot(p, &pair.receiver);
        uint64_t *number = map_insert(&p->by_ranks, key(pair.from, pair.to), &is_new);
        if (is_new) {
            p->items[kept++] = pair;
            *number = kept;
            continue;
        }
        struct pair *to = &p->items[*number - 1];
        to->messages += pair.messages;
        to->bytes += pair.bytes;
        to->time += pair.time;
    }
    p->count = kept;
}

/* The capacity of the array is a power of two, derived from the largest number it ever held. */
uint32_t pairs_find(struct pairs *p, uint32_t from, uint32_t to)
{
    int is_new;
    uint64_t *number = map_insert(&p->by_ranks, key(from >> p->shift, to >> p->shift), &is_new);
    if (!is_new)
        return (uint32_t)*number - 1;
    if (p->count == p->most && (from | to) >> p->shift) {
        map_remove(&p->by_ranks, key(from >> p->shift, to >> p->shift));
        merge(p);
        return pairs_find(p, from, to);
    }
    if (p->shift == 0)
        ARRAY_EXTEND(p->items, p->count);
    p->items[p->count++] = (struct pair){.from = from >> p->shift, .to = to >> p->shift};
    *number = p->count;
    return (uint32_t)*number - 1;
}

/* ---- the result ---- */

static int by_ranks(const void *a, const void *b)
{
    const struct analysis_pair *p = a, *q = b;
    if (p->from != q->from)
        return p->from < q->from ? -1 : 1;
    return (p->to > q->to) - (p->to < q->to);
}

static int by_nodes(const void *a, const void *b)
{
    const struct analysis_node_pair *p = a, *q = b;
    if (p->from != q->from)
        return p->from < q->from ? -1 : 1;
    return (p->to > q->to) - (p->to < q->to);
}

static void node_pairs(struct analysis *a)
{
    struct map numbers;
    map_init(&numbers);
    a->node_pair = analysis_keep(a, (a->pair_count + 1) * sizeof *a->node_pair);
    for (size_t i = 0; i < a->pair_count; i++) {
        const struct analysis_pair *pair = &a->pair[i];
        int64_t from = a->rank[pair->from].node, to = a->rank[pair->to].node;
        int is_new;
        uint64_t *number = map_insert(&numbers, key((uint32_t)from, (uint32_t)to), &is_new);
        if (is_new) {
            *number = a->node_pair_count;
            a->node_pair[a->node_pair_count++] = (struct analysis_node_pair){.from = from,
                                                                             .to = to};
        }
        struct analysis_node_pair *sum = &a->node_pair[*number];
        sum->messages += pair->messages;
        sum->bytes += pair->bytes;
        sum->time += pair->time;
    }
    if (a->node_pair_count)
        qsort(a->node_pair, a->node_pair_count, sizeof *a->node_pair, by_nodes);
    map_fini(&numbers);
}

void pairs_result(struct pairs *p, double second, struct analysis *a)
{
    a->pair = analysis_keep(a, (p->count + 1) * sizeof *a->pair);
    a->pair_count = p->count;
    a->pair_width = UINT64_C(1) << p->shift;
    for (size_t i = 0; i < p->count; i++) {
        const struct pair *pair = &p->items[i];
        a->pair[i] = (struct analysis_pair){(uint64_t)pair->from << p->shift,
                                            (uint64_t)pair->to << p->shift, (double)pair->messages,
                                            (double)pair->bytes, pair->time * second};
    }
    if (p->count)
        qsort(a->pair, a->pair_count, sizeof *a->pair, by_ranks);
    if (a->nodes && p->shift == 0)
        node_pairs(a);
}
