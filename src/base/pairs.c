/*
 * pairs.c - a sorted array that grows by doubling, from one pair on.
 */
#include "base/pairs.h"

#include <assert.h>
#include <string.h>

static size_t bytes_for(uint32_t room)
{
    return sizeof(struct pairs) + (size_t)room * sizeof(struct pairs_item);
}

/* The first pair whose key is not smaller. */
static uint32_t position(const struct pairs *p, uint64_t key)
{
    uint32_t from = 0, to = p ? p->count : 0;

    while (from < to) {
        uint32_t mid = from + (to - from) / 2;

        if (p->at[mid].key < key)
            from = mid + 1;
        else
            to = mid;
    }
    return from;
}

uint64_t *pairs_find(const struct pairs *p, uint64_t key)
{
    uint32_t i = position(p, key);

    return p && i < p->count && p->at[i].key == key ? (uint64_t *)&p->at[i].val : NULL;
}

static struct pairs *grow(struct pairs *old, struct pool *pool)
{
    uint32_t room = old ? 2 * old->room : 1;
    struct pairs *p;

    assert(!old || room > old->room);
    p = pool_alloc(pool, bytes_for(room));
    p->count = 0;
    if (old) {
        memcpy(p, old, bytes_for(old->count));
        pool_free(pool, old, bytes_for(old->room));
    }
    p->room = room;
    return p;
}

uint64_t *pairs_insert(struct pairs **all, struct pool *pool, uint64_t key)
{
    uint64_t *found = pairs_find(*all, key);
    uint32_t i = position(*all, key);
    struct pairs *p;

    if (found)
        return found;
    if (!*all || (*all)->count == (*all)->room)
        *all = grow(*all, pool);
    p = *all;
    memmove(&p->at[i + 1], &p->at[i], (p->count++ - i) * sizeof p->at[0]);
    p->at[i] = (struct pairs_item){key, 0};
    return &p->at[i].val;
}

int pairs_remove(struct pairs **all, struct pool *pool, uint64_t key)
{
    struct pairs *p = *all;
    uint32_t i = position(p, key);

    if (!p || i == p->count || p->at[i].key != key)
        return 0;
    memmove(&p->at[i], &p->at[i + 1], (--p->count - i) * sizeof p->at[0]);
    if (!p->count) {
        pool_free(pool, p, bytes_for(p->room));
        *all = NULL;
    }
    return 1;
}
