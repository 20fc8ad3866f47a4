/*
 * rank_map.h - which process has which entity.
 *
 * An entity has a number in the whole simulation (its world number) and an index among those of its
 * process. Indices are in the order of world numbers, so ordering by index is ordering by number.
 *
 *     block    0 1 2 3 | 4 5 6 7 | 8 9 10     consecutive; the first processes have one more
 *     cyclic   0 3 6 9 | 1 4 7 10 | 2 5 8     one by one
 *     list     as a table says
 *
 * If ranks run several programs, a process has ranks of one of them: consecutive entities, a
 * section, are distributed over consecutive processes, by block or cyclic.
 *
 * Spares are further entities that may be spawned later. They have the numbers and indices that
 * follow, and are assigned one by one: 11 to process 2, 12 to process 0, ... (the number modulo the
 * processes, so that with enough spares every process has some).
 */
#ifndef ENGINE_RANK_MAP_H
#define ENGINE_RANK_MAP_H

#include <stddef.h>
#include <stdint.h>

enum rank_map_kind { RANK_MAP_BLOCK = 0, RANK_MAP_CYCLIC, RANK_MAP_LIST };

/* Entities from `first` on, and the processes that have them. */
struct rank_map_section {
    uint32_t first, count, proc, procs;
};

struct rank_map {
    uint32_t world, procs; /* entities and processes in all */
    uint32_t proc, count;  /* this process, and how many entities it has */
    uint32_t first,
        step; /* not RANK_MAP_LIST: number of entity i of this process = first + i * step */
    uint32_t big,
        size;     /* RANK_MAP_BLOCK, of the section: processes below `big` have size + 1 entities,
                   * others size */
    uint8_t kind; /* enum rank_map_kind */
    const uint32_t *owner; /* RANK_MAP_LIST: process of each entity, borrowed */
    uint32_t *number;      /* RANK_MAP_LIST: number of each entity of this process */
    const struct rank_map_section *sections; /* borrowed; NULL: all entities are one section */
    uint32_t section_count;
    uint32_t spares; /* of all processes */
    uint32_t spare;  /* number of this process's first spare */
    uint32_t room;   /* indices of this process, spares included */
    uint32_t plain;  /* number of entity i = first + i * step for all i below this */
};

/* In place. RANK_MAP_LIST: `owner` has `world` entries and is borrowed for the life of the map;
 * else NULL. Every process has at least one entity (block and cyclic: if world >= procs). */
void rank_map_init(struct rank_map *, enum rank_map_kind, uint32_t world, uint32_t procs,
                   uint32_t proc, const uint32_t *owner);

/* rank_map_init with several sections, which are borrowed for the life of the map: all entities and
 * all processes together, in order, none empty. Not RANK_MAP_LIST; there are no spares.
 * O(sections) */
void rank_map_init_sections(struct rank_map *, enum rank_map_kind, const struct rank_map_section *,
                            uint32_t count, uint32_t proc);

/* Adds that many spares in all. Once, after rank_map_init. */
void rank_map_add_spares(struct rank_map *, uint32_t spares);

/* The process that has an entity. O(log sections). */
uint32_t rank_map_proc(const struct rank_map *, uint32_t number);

/* How many of the n entities first, first + stride, ... belong to this process. */
uint32_t rank_map_count_range(const struct rank_map *, int64_t first, int64_t stride, uint32_t n);

/* O(log entities) with a list. */
uint32_t rank_map_index_slow(const struct rank_map *, uint32_t number);
uint32_t rank_map_number_slow(const struct rank_map *, uint32_t index);

static inline int rank_map_is_here(const struct rank_map *p, uint32_t number)
{
    if (__builtin_expect(p->step == 1, 1) &&
        (__builtin_expect(number - p->first < p->plain, 1) || !p->spares))
        return number - p->first < p->plain;
    return rank_map_proc(p, number) == p->proc;
}

/* Number of this process's entity `index`. */
static inline uint32_t rank_map_number(const struct rank_map *p, uint32_t index)
{
    if (__builtin_expect(index < p->plain, 1))
        return p->first + index * p->step;
    return index < p->count ? p->number[index] : rank_map_number_slow(p, index);
}

/* Index of an entity of this process. */
static inline uint32_t rank_map_index(const struct rank_map *p, uint32_t number)
{
    if (__builtin_expect(p->step == 1, 1) && __builtin_expect(number - p->first < p->plain, 1))
        return number - p->first;
    return rank_map_index_slow(p, number);
}

#endif
