/*
 * path.h - the critical path, found forwards: every rank has the path that leads to its present
 * state. When a rank has waited for another, it continues the path of the other one.
 *
 * Paths are a tree whose nodes are pieces of paths, with the time that each piece spent at each
 * place of each rank. A rank that hops to the path of another one shares its nodes; nodes that no
 * path uses are freed. When there are many nodes, those with a single successor are merged, so
 * memory grows with the branches, not with the events.
 */
#ifndef ANALYSIS_PATH_H
#define ANALYSIS_PATH_H

#include <stddef.h>
#include <stdint.h>

#include "base/pool.h"

struct path_entry {
    uint32_t rank, place;
    int64_t ticks;
};

struct path_node {
    uint32_t parent; /* 0: the start of the program */
    /* Nodes and ranks that continue from here; 0: free, and `parent` is the next free one. */
    uint32_t refs;
    uint32_t count, hops;
    struct path_entry *entries;
};

/* The path of a rank: a node and what came after it. */
struct path_end {
    uint32_t node;
    uint16_t count, room;
    uint32_t rank;
    uint32_t hops;
    struct path_entry *own;
};

struct path {
    struct path_node *nodes; /* node 0 is not used */
    uint32_t count;          /* that were ever used */
    uint32_t free;           /* the first free one */
    uint32_t live, compress_at;
    uint32_t least; /* nodes that need not be merged */
    struct pool pool;
};

void path_init(struct path *, uint32_t ranks);
void path_fini(struct path *);
void path_end_fini(struct path_end *);

void path_add_slow(struct path_end *, uint32_t place, int64_t ticks);
/* Time at a place. */
static inline void path_add(struct path_end *end, uint32_t place, int64_t ticks)
{
    if (ticks <= 0)
        return;
    for (uint32_t i = end->count; i-- > 0;)
        if (end->own[i].place == place) {
            end->own[i].ticks += ticks;
            return;
        }
    path_add_slow(end, place, ticks);
}

/* `end` continues from `other`. */
void path_hop(struct path *, struct path_end *end, struct path_end *other);
/* `end` is `other` as it is now; let go of it before path_fini. */
void path_keep(struct path *, struct path_end *end, struct path_end *other);
void path_let_go(struct path *, struct path_end *end);
/* The whole path: an array that the caller frees, with each rank and place once, in order. */
struct path_entry *path_take(struct path *, struct path_end *end, size_t *count, uint64_t *hops);

#endif
