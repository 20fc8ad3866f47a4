/*
 * places.h - places: the parts of the program to which time is attributed. A place is a function in
 * a region or at a call site, or the computing before it. Numbers are even for computing and odd
 * for calls. Place 0 stands for time that cannot be attributed, and for all further places when
 * there is no room for more, as every rank may have a value for each place.
 */
#ifndef ANALYSIS_PLACES_H
#define ANALYSIS_PLACES_H

#include "base/map.h"

#define PLACES_UNKNOWN 0u

struct place_key {
    uint32_t region, fn;
    uint64_t site;
};

struct places {
    struct place_key *keys; /* of places 2i and 2i + 1 */
    uint32_t count, most;   /* of keys */
    struct map by_hash;
    struct place_cached {
        struct place_key key;
        uint32_t number;
    } * cache; /* by function */
};

void places_init(struct places *, unsigned fns, uint32_t most);
void places_fini(struct places *);
uint32_t places_find_slow(struct places *, struct place_key);

/* The number of the place of the computing before the call; the call's is one higher. */
static inline uint32_t places_find(struct places *p, uint32_t region, uint32_t fn, uint64_t site)
{
    struct place_cached *c = &p->cache[fn];
    if (__builtin_expect(c->number && c->key.region == region && c->key.site == site, 1))
        return c->number;
    c->key = (struct place_key){region, fn, site};
    return c->number = places_find_slow(p, c->key);
}

#endif
