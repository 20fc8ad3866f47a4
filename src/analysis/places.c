/*
 * places.c - numbers for places.
 */
#include "analysis/places.h"

#include "base/array.h"
#include "base/mem.h"
#include "base/rng.h"

void places_init(struct places *p, unsigned fns, uint32_t most)
{
    *p = (struct places){.count = 1, .most = most};
    p->keys = mem_zalloc(sizeof *p->keys);
    p->cache = mem_zalloc((fns + 1) * sizeof *p->cache);
    map_init(&p->by_hash);
}

void places_fini(struct places *p)
{
    mem_free(p->keys);
    mem_free(p->cache);
    map_fini(&p->by_hash);
    *p = (struct places){0};
}

uint32_t places_find_slow(struct places *p, struct place_key key)
{
    uint64_t state = ((uint64_t)key.region << 32 | key.fn) ^ key.site * RNG_SPLITMIX_STEP;
    int is_new;
    uint64_t *number = map_insert(&p->by_hash, rng_splitmix(&state), &is_new);
    if (is_new && p->count < p->most) {
        ARRAY_EXTEND(p->keys, p->count);
        p->keys[p->count] = key;
        *number = p->count++;
    }
    return 2 * (uint32_t)*number;
}
