/*
 * path.c - the tree of paths.
 */
#include "analysis/path.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

#define LEAST 65536u

void path_init(struct path *p, uint32_t ranks)
{
    *p = (struct path){.count = 1, .least = LEAST + 2 * ranks};
    p->compress_at = p->least;
    p->nodes = mem_zalloc(sizeof *p->nodes);
    pool_init(&p->pool, "paths");
}

void path_fini(struct path *p)
{
    for (uint32_t i = 1; i < p->count; i++)
        if (p->nodes[i].refs && p->nodes[i].count * sizeof *p->nodes[i].entries > POOL_MAX)
            pool_free(&p->pool, p->nodes[i].entries,
                      p->nodes[i].count * sizeof *p->nodes[i].entries);
    mem_free(p->nodes);
    pool_fini(&p->pool);
    *p = (struct path){0};
}

void path_end_fini(struct path_end *end)
{
    mem_free(end->own);
    *end = (struct path_end){0};
}

void path_add_slow(struct path_end *end, uint32_t place, int64_t ticks)
{
    ARRAY_RESERVE(end->own, end->room, end->count + 1, 4);
    end->own[end->count++] = (struct path_entry){end->rank, place, ticks};
}

/* ---- nodes ---- */

static uint32_t node_new(struct path *p)
{
    uint32_t number = p->free;
    if (number) {
        p->free = p->nodes[number].parent;
    } else {
        ARRAY_EXTEND(p->nodes, p->count);
        number = p->count++;
    }
    p->live++;
    return number;
}

static void node_free(struct path *p, uint32_t number)
{
    struct path_node *node = &p->nodes[number];
    assert(number > 0 && p->live > 0);
    pool_free(&p->pool, node->entries, node->count * sizeof *node->entries);
    *node = (struct path_node){.parent = p->free};
    p->free = number;
    p->live--;
}

static void unref(struct path *p, uint32_t number)
{
    while (number) {
        assert(p->nodes[number].refs > 0);
        if (--p->nodes[number].refs)
            return;
        uint32_t parent = p->nodes[number].parent;
        node_free(p, number);
        number = parent;
    }
}

static int by_rank(const void *a, const void *b)
{
    const struct path_entry *x = a, *y = b;
    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    return (x->place > y->place) - (x->place < y->place);
}

/* Each rank and place once. */
static size_t combine(struct path_entry *entries, size_t count)
{
    size_t kept = 0;
    if (count)
        qsort(entries, count, sizeof *entries, by_rank);
    for (size_t i = 0; i < count; i++) {
        if (kept && by_rank(&entries[kept - 1], &entries[i]) == 0)
            entries[kept - 1].ticks += entries[i].ticks;
        else
            entries[kept++] = entries[i];
    }
    return kept;
}

/* Merges a node with all its predecessors that have no other successor. */
static void gather(struct path *p, uint32_t number, struct path_entry **room, size_t *size)
{
    struct path_node *node = &p->nodes[number];
    size_t count = 0;
    uint32_t parent = node->parent;
    if (!parent || p->nodes[parent].refs > 1)
        return;
    ARRAY_RESERVE(*room, *size, count + node->count, 64);
    memcpy(*room, node->entries, node->count * sizeof **room);
    count = node->count;
    while (parent && p->nodes[parent].refs == 1) {
        struct path_node *before = &p->nodes[parent];
        uint32_t next = before->parent;
        ARRAY_RESERVE(*room, *size, count + before->count, 64);
        memcpy(*room + count, before->entries, before->count * sizeof **room);
        count += before->count;
        node->hops += before->hops;
        node_free(p, parent);
        parent = next;
    }
    pool_free(&p->pool, node->entries, node->count * sizeof *node->entries);
    node->parent = parent;
    node->count = (uint32_t)combine(*room, count);
    node->entries = pool_alloc(&p->pool, node->count * sizeof *node->entries);
    memcpy(node->entries, *room, node->count * sizeof *node->entries);
}

/* Only the last node of a chain merges: the others are merged into it. */
static void compress(struct path *p)
{
    struct path_entry *room = NULL;
    size_t size = 0;
    uint8_t *is_inner = mem_zalloc(p->count);
    for (uint32_t i = 1; i < p->count; i++)
        if (p->nodes[i].refs && p->nodes[i].parent && p->nodes[p->nodes[i].parent].refs == 1)
            is_inner[p->nodes[i].parent] = 1;
    for (uint32_t i = 1; i < p->count; i++)
        if (p->nodes[i].refs && !is_inner[i])
            gather(p, i, &room, &size);
    mem_free(is_inner);
    mem_free(room);
    p->compress_at = p->least + 2 * p->live;
}

/* ---- ends ---- */

/* What a rank has added becomes a node from which others can continue. */
static uint32_t seal(struct path *p, struct path_end *end)
{
    if (!end->count)
        return end->node;
    if (p->live >= p->compress_at)
        compress(p);
    uint32_t number = node_new(p);
    struct path_node *node = &p->nodes[number];
    *node = (struct path_node){end->node, 1, end->count, end->hops,
                               pool_alloc(&p->pool, end->count * sizeof *node->entries)};
    memcpy(node->entries, end->own, end->count * sizeof *node->entries);
    end->node = number;
    end->count = 0;
    end->hops = 0;
    return number;
}

void path_hop(struct path *p, struct path_end *end, struct path_end *other)
{
    if (end == other)
        return;
    uint32_t number = seal(p, other);
    if (number) {
        assert(number < p->count && p->nodes[number].refs > 0);
        p->nodes[number].refs++;
    }
    unref(p, end->node);
    end->node = number;
    end->count = 0;
    end->hops = other->hops + 1;
}

void path_keep(struct path *p, struct path_end *end, struct path_end *other)
{
    path_hop(p, end, other);
    end->rank = other->rank;
    end->hops = other->hops;
}

void path_let_go(struct path *p, struct path_end *end)
{
    unref(p, end->node);
    path_end_fini(end);
}

struct path_entry *path_take(struct path *p, struct path_end *end, size_t *count, uint64_t *hops)
{
    struct path_entry *all = NULL;
    size_t room = 0;
    *hops = end->hops;
    ARRAY_RESERVE(all, room, (size_t)end->count + 1, 64);
    memcpy(all, end->own, end->count * sizeof *all);
    *count = end->count;
    for (uint32_t i = end->node; i; i = p->nodes[i].parent) {
        const struct path_node *node = &p->nodes[i];
        ARRAY_RESERVE(all, room, *count + node->count, 64);
        memcpy(all + *count, node->entries, node->count * sizeof *all);
        *count += node->count;
        *hops += node->hops;
    }
    *count = combine(all, *count);
    return all;
}
