/*
 * map.h - a hash map from uint64_t to uint64_t; every key and value is allowed.
 *
 * Open addressing with linear probing and backward-shift deletion: no tombstones, so probe
 * lengths depend only on what the map holds now. At most 3/4 full; grows by doubling, never
 * shrinks. Memory is that of the table: 16 bytes per slot, none while empty. Running out of
 * memory ends the process. Nothing here switches.
 */
#ifndef BASE_MAP_H
#define BASE_MAP_H

#include <stddef.h>
#include <stdint.h>

struct map_slot {
    uint64_t key; /* 0: the slot is free */
    uint64_t val;
};

/* Use the functions. */
struct map {
    struct map_slot *slots; /* 2^(64 - shift) of them, or NULL */
    size_t count;           /* keys in slots, that is without key 0 */
    unsigned shift;
    int has_zero; /* key 0 is kept here, outside the table */
    uint64_t zero_val;
};

void map_init(struct map *map);
void map_fini(struct map *map);

/* The value of key, or NULL. The pointer is good until the next insertion or removal. */
uint64_t *map_find(const struct map *map, uint64_t key);

/* Prefetches the memory that a lookup of key will read. */
void map_prefetch(const struct map *map, uint64_t key);

/*
 * The value of key, inserted as 0 if it was absent; *is_new (may be NULL) says which. Amortised
 * O(1). The pointer is good until the next insertion or removal.
 */
uint64_t *map_insert(struct map *map, uint64_t key, int *is_new);

/* Removes key; 1 if it was there, else 0. */
int map_remove(struct map *map, uint64_t key);

size_t map_count(const struct map *map);

/*
 * Iteration: start with *it = 0; 1 with the next pair in *key and *val (either may be NULL), or
 * 0 at the end. The order is that of the table: the same for the same history of calls, but
 * otherwise arbitrary. The map must not change meanwhile, except values through map_find.
 */
int map_next(const struct map *map, size_t *it, uint64_t *key, uint64_t *val);

#endif
