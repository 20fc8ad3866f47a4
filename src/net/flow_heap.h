/*
 * flow_heap.h - a heap of pointers ordered by (key, order), smallest first; no two entries are
 * equal. Each item has a struct flow_slot, where the heap stores its position, so that an entry can
 * be moved. Each entry has four children: half the depth of a binary heap, and siblings share a
 * cache line.
 *
 * Out of memory ends the process. Nothing here switches.
 */
#ifndef NET_FLOW_HEAP_H
#define NET_FLOW_HEAP_H

#include <stdint.h>
#include <string.h>

#include "base/heap.h"

struct flow_slot {
    uint32_t at; /* position + 1; 0: not in the heap */
};

struct flow_heap_entry {
    int64_t key;
    uint64_t order;
    struct flow_slot *item;
};

HEAP_STRUCT(flow_heap, struct flow_heap_entry);

/* A non-negative double as a key: its bits are ordered like the numbers. */
static inline int64_t flow_heap_key(double x)
{
    int64_t bits;

    x += 0.0; /* no negative zero */
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static inline double flow_heap_number(int64_t key)
{
    double x;

    memcpy(&x, &key, sizeof x);
    return x;
}

static inline int flow_heap_before(const struct flow_heap_entry *a, const struct flow_heap_entry *b)
{
    return a->key < b->key || (a->key == b->key && a->order < b->order);
}

#define FLOW_HEAP_MOVED(h, i) ((h)->at[i].item->at = (i) + 1)
HEAP_FUNCTIONS(flow_heap, struct flow_heap_entry, 4, 64, flow_heap_before, FLOW_HEAP_MOVED);

/* Adds the item, or moves it according to its new key. */
static inline void flow_heap_set(struct flow_heap *h, struct flow_slot *item, int64_t key,
                                 uint64_t order)
{
    struct flow_heap_entry e = {key, order, item};

    if (item->at == 0)
        flow_heap_push(h, e);
    else
        flow_heap_replace(h, item->at - 1, e);
}

/* Removes and returns the first item; the heap must not be empty. */
static inline struct flow_slot *flow_heap_take(struct flow_heap *h)
{
    struct flow_slot *first = flow_heap_pop(h).item;

    first->at = 0;
    return first;
}

/* Removes an item that is in the heap. */
static inline void flow_heap_drop(struct flow_heap *h, struct flow_slot *item)
{
    flow_heap_remove(h, item->at - 1);
    item->at = 0;
}

/* Removes all items. */
static inline void flow_heap_clear(struct flow_heap *h)
{
    for (uint32_t i = 0; i < h->len; i++)
        h->at[i].item->at = 0;
    h->len = 0;
}

#endif
