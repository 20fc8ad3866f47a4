/*
 * map.c - a hash map with linear probing over a power of two of slots (Knuth, TAOCP 6.4, algorithms
 * L and R).
 *
 * Invariant: from the home slot of every key to the slot that holds it, no slot is free. Removal
 * keeps it by moving later keys of the run back into the hole. The home is the top bits of a
 * mixed key; key 0 marks a free slot, so the pair of key 0 is kept beside the table.
 */
#include "base/map.h"

#include <assert.h>

#include "base/hostile.h"
#include "base/mem.h"

#define FIRST_BITS HOSTILE(1, 4)
#define MOVES_TO HOSTILE(64, 0) /* slots: tables of at most so many move at each insertion */
#define AUDIT_TO HOSTILE(64, 0) /* slots: the invariant of such tables is checked */

void map_init(struct map *map)
{
    *map = (struct map){.shift = 64};
}

void map_fini(struct map *map)
{
    mem_free(map->slots);
    map_init(map);
}

size_t map_count(const struct map *map)
{
    return map->count + (size_t)map->has_zero;
}

static size_t slot_count(const struct map *map)
{
    return map->slots ? (size_t)1 << (64 - map->shift) : 0;
}

static size_t home(const struct map *map, uint64_t key)
{
    key *= 0x9e3779b97f4a7c15u;
    key ^= key >> 32;
    key *= 0xd6e8feb86659fd93u;
    return (size_t)(key >> map->shift);
}

/* The slot of key, or the free slot where it belongs; the table is neither NULL nor full. */
static size_t probe(const struct map *map, uint64_t key)
{
    size_t mask = slot_count(map) - 1;
    size_t i = home(map, key);
    while (map->slots[i].key != key && map->slots[i].key != 0)
        i = (i + 1) & mask;
    return i;
}

/* Every key is where a lookup finds it, and their number is right. */
static void audit(const struct map *map)
{
    size_t n = slot_count(map), count = 0;

    if (n > AUDIT_TO)
        return;
    for (size_t i = 0; i < n; i++) {
        assert(map->slots[i].key == 0 || probe(map, map->slots[i].key) == i);
        count += map->slots[i].key != 0;
    }
    assert(count == map->count && (n == 0 || count < n));
}

/* Moves all to a table with 2^(64 - shift) slots. */
static void move_to(struct map *map, unsigned shift)
{
    struct map_slot *old = map->slots;
    size_t n = slot_count(map);
    map->shift = shift;
    map->slots = mem_zalloc(((size_t)1 << (64 - map->shift)) * sizeof *map->slots);
    for (size_t i = 0; i < n; i++) {
        if (old[i].key != 0)
            map->slots[probe(map, old[i].key)] = old[i];
    }
    mem_free(old);
}

static void make_room(struct map *map)
{
    if (!map->slots)
        move_to(map, 64 - FIRST_BITS);
    else if ((map->count + 1) * 4 > slot_count(map) * 3)
        move_to(map, map->shift - 1);
    else if (slot_count(map) <= MOVES_TO)
        move_to(map, map->shift);
}

uint64_t *map_find(const struct map *map, uint64_t key)
{
    if (key == 0)
        return map->has_zero ? (uint64_t *)&map->zero_val : NULL;
    if (!map->slots)
        return NULL;
    struct map_slot *slot = &map->slots[probe(map, key)];
    return slot->key == key ? &slot->val : NULL;
}

void map_prefetch(const struct map *map, uint64_t key)
{
    if (map->slots)
        __builtin_prefetch(&map->slots[home(map, key)], 1);
}

static uint64_t *insert_zero(struct map *map, int *is_new)
{
    if (is_new)
        *is_new = !map->has_zero;
    if (!map->has_zero)
        map->zero_val = 0;
    map->has_zero = 1;
    return &map->zero_val;
}

uint64_t *map_insert(struct map *map, uint64_t key, int *is_new)
{
    if (key == 0)
        return insert_zero(map, is_new);
    uint64_t *val = map_find(map, key);
    if (is_new)
        *is_new = !val;
    if (val)
        return val;
    make_room(map);
    assert_hot(map->count + 1 < slot_count(map)); /* else a lookup would not end */
    struct map_slot *slot = &map->slots[probe(map, key)];
    *slot = (struct map_slot){.key = key, .val = 0};
    map->count++;
    audit(map);
    return &slot->val;
}

/*
 * Fills the hole: a later key of the run may move into it unless its home lies cyclically in
 * (hole, i], where probing for it would no longer pass the hole.
 */
static void close_hole(struct map *map, size_t hole)
{
    size_t mask = slot_count(map) - 1;
    for (size_t i = (hole + 1) & mask; map->slots[i].key != 0; i = (i + 1) & mask) {
        size_t from_home = (i - home(map, map->slots[i].key)) & mask;
        if (from_home >= ((i - hole) & mask)) {
            map->slots[hole] = map->slots[i];
            hole = i;
        }
    }
    map->slots[hole].key = 0;
}

int map_remove(struct map *map, uint64_t key)
{
    if (key == 0) {
        int had = map->has_zero;
        map->has_zero = 0;
        return had;
    }
    if (!map->slots)
        return 0;
    size_t i = probe(map, key);
    if (map->slots[i].key != key)
        return 0;
    assert(map->count > 0);
    close_hole(map, i);
    map->count--;
    audit(map);
    return 1;
}

/* Position 0 is the pair of key 0, position i + 1 is slot i. */
int map_next(const struct map *map, size_t *it, uint64_t *key, uint64_t *val)
{
    size_t n = slot_count(map);
    while (*it <= n) {
        size_t at = (*it)++;
        if (at == 0 ? !map->has_zero : map->slots[at - 1].key == 0)
            continue;
        if (key)
            *key = at == 0 ? 0 : map->slots[at - 1].key;
        if (val)
            *val = at == 0 ? map->zero_val : map->slots[at - 1].val;
        return 1;
    }
    return 0;
}
