/*
 * A heap of pointers ordered by (key, order), smallest first; no two entries are equal. Whatever is
 * in it has a struct flow_place, where the heap keeps its position, so that an entry can be moved.
 * Four children per entry: half the depth of two, and children share a cache line.
 *
 * Out of memory ends the process. Nothing here switches.
 */
#ifndef NET_FLOW_HEAP_H
#define NET_FLOW_HEAP_H

#include <stdint.h>
#include <string.h>

#include "base/mem.h"

struct flow_place {
    uint32_t at; /* position + 1; 0: not in the heap */
};

struct flow_heap_entry {
    int64_t key;
    uint64_t order;
    struct flow_place *item;
};

struct flow_heap {
    struct flow_heap_entry *entries;
    uint32_t len, cap;
};

/* A double of at least 0 as a key: its bits order as the numbers do. */
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

static inline void flow_heap_put(struct flow_heap *h, uint32_t at, struct flow_heap_entry e)
{
    h->entries[at] = e;
    e.item->at = at + 1;
}

static inline void flow_heap_up(struct flow_heap *h, uint32_t at, struct flow_heap_entry e)
{
    while (at > 0 && flow_heap_before(&e, &h->entries[(at - 1) / 4])) {
        flow_heap_put(h, at, h->entries[(at - 1) / 4]);
        at = (at - 1) / 4;
    }
    flow_heap_put(h, at, e);
}

static inline void flow_heap_down(struct flow_heap *h, uint32_t at, struct flow_heap_entry e)
{
    for (;;) {
        uint32_t kid = 4 * at + 1, end = kid + 4 < h->len ? kid + 4 : h->len;

        if (kid >= h->len)
            break;
        for (uint32_t k = kid + 1; k < end; k++)
            kid = flow_heap_before(&h->entries[k], &h->entries[kid]) ? k : kid;
        if (!flow_heap_before(&h->entries[kid], &e))
            break;
        flow_heap_put(h, at, h->entries[kid]);
        at = kid;
    }
    flow_heap_put(h, at, e);
}

static inline void flow_heap_grow(struct flow_heap *h)
{
    h->cap = h->cap ? 2 * h->cap : 64;
    h->entries = mem_realloc(h->entries, h->cap * sizeof *h->entries);
}

/* Puts an item at the end, out of order; flow_heap_build must follow. */
static inline void flow_heap_append(struct flow_heap *h, struct flow_place *item, int64_t key,
                                    uint64_t order)
{
    if (h->len == h->cap)
        flow_heap_grow(h);
    h->len++;
    flow_heap_put(h, h->len - 1, (struct flow_heap_entry){key, order, item});
}

/* Puts everything in order, in O(len). */
static inline void flow_heap_build(struct flow_heap *h)
{
    for (uint32_t i = h->len > 1 ? (h->len - 2) / 4 + 1 : 0; i-- > 0;)
        flow_heap_down(h, i, h->entries[i]);
}

/* Adds the item, or moves it where its new key belongs. */
static inline void flow_heap_set(struct flow_heap *h, struct flow_place *item, int64_t key,
                                 uint64_t order)
{
    struct flow_heap_entry e = {key, order, item};
    uint32_t at = item->at - 1;

    if (item->at == 0) {
        if (h->len == h->cap)
            flow_heap_grow(h);
        flow_heap_up(h, h->len++, e);
    } else if (at > 0 && flow_heap_before(&e, &h->entries[(at - 1) / 4])) {
        flow_heap_up(h, at, e);
    } else {
        flow_heap_down(h, at, e);
    }
}

/* Takes the first item out; the heap is not empty. */
static inline struct flow_place *flow_heap_pop(struct flow_heap *h)
{
    struct flow_place *first = h->entries[0].item;

    first->at = 0;
    if (--h->len > 0)
        flow_heap_down(h, 0, h->entries[h->len]);
    return first;
}

/* Takes an item out that is there. */
static inline void flow_heap_remove(struct flow_heap *h, struct flow_place *item)
{
    uint32_t at = item->at - 1;
    struct flow_heap_entry last = h->entries[--h->len];

    item->at = 0;
    if (at == h->len)
        return;
    if (at > 0 && flow_heap_before(&last, &h->entries[(at - 1) / 4]))
        flow_heap_up(h, at, last);
    else
        flow_heap_down(h, at, last);
}

/* Takes all items out. */
static inline void flow_heap_clear(struct flow_heap *h)
{
    for (uint32_t i = 0; i < h->len; i++)
        h->entries[i].item->at = 0;
    h->len = 0;
}

#endif
