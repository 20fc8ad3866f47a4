/*
 * pairs.h - a map for few keys: a sorted array of pairs of a key and a value, in as little memory
 * as that takes.
 *
 *     [count | room] [key | value] [key | value] ...      8 bytes, and 16 for each pair
 *
 * NULL is the empty map. To find is O(log n); to insert and to remove move the pairs behind. Where
 * keys are many and come and go in any order, use map.h. Memory is from the pool that all calls for
 * one map are given. Nothing here switches.
 */
#ifndef BASE_PAIRS_H
#define BASE_PAIRS_H

#include <stdint.h>

#include "base/pool.h"

struct pairs_item {
    uint64_t key, val;
};

/* The pairs may be read in order of keys; use the functions for all else. */
struct pairs {
    uint32_t count, room;
    struct pairs_item at[];
};

/* The value of key, or NULL. The pointer is good until the next insertion or removal. */
uint64_t *pairs_find(const struct pairs *, uint64_t key);

/* The value of key, inserted as 0 if it was absent. The pointer is good until the next insertion or
 * removal. */
uint64_t *pairs_insert(struct pairs **, struct pool *, uint64_t key);

/* Removes key; 1 if it was there, else 0. Frees the memory with the last pair. */
int pairs_remove(struct pairs **, struct pool *, uint64_t key);

#endif
