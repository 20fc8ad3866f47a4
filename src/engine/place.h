/*
 * place.h - which process has which entity.
 *
 * Entities have a number in the whole simulation (their world number) and an index among those of
 * their process. Indices are in the order of world numbers, so ties by index are ties by number.
 *
 *     block    0 1 2 3 | 4 5 6 7 | 8 9 10     consecutive; the first processes have one more
 *     cyclic   0 3 6 9 | 1 4 7 10 | 2 5 8     one by one
 *     list     as a table says
 *
 * Spares are entities beyond these that may come later. They have the numbers and indices that follow,
 * and are dealt out one by one: 11 to process 2, 12 to process 0, ... (the number modulo processes, so
 * that with enough of them every process has something)
 */
#ifndef ENGINE_PLACE_H
#define ENGINE_PLACE_H

#include <stddef.h>
#include <stdint.h>

enum place_kind { PLACE_BLOCK = 0, PLACE_CYCLIC, PLACE_LIST };

struct place {
    uint32_t world, procs; /* entities and processes in all */
    uint32_t proc, count;  /* this process, and how many entities it has */
    uint32_t first,
        step;           /* not PLACE_LIST: number of entity i of this process = first + i * step */
    uint32_t big, size; /* PLACE_BLOCK: processes below `big` have size + 1 entities, others size */
    uint8_t kind;       /* enum place_kind */
    const uint32_t *owner; /* PLACE_LIST: process of each entity, borrowed ... */
    uint32_t *number;      /* ... and number of each of this process's */
    uint32_t spares;       /* in all processes ... */
    uint32_t spare;        /* ... and number of the first one of this process */
    uint32_t room;         /* indices of this process, spares included */
    uint32_t plain;        /* number of entity i = first + i * step for all i below this */
};

/* In place. PLACE_LIST: `owner` has `world` entries and is borrowed for good; else NULL. Every process
 * has at least one entity (block and cyclic: if world >= procs). */
void place_init(struct place *, enum place_kind, uint32_t world, uint32_t procs, uint32_t proc,
                const uint32_t *owner);
void place_fini(struct place *);

/* There will be so many spares in all. Once, after place_init. */
void place_add_spares(struct place *, uint32_t spares);

/* The process that has an entity. O(1). */
uint32_t place_proc(const struct place *, uint32_t number);

/* How many of the entities first, first + stride, ... (n of them) are of this process. */
uint32_t place_count_range(const struct place *, int64_t first, int64_t stride, uint32_t n);

/* O(log entities) with a list. */
uint32_t place_index_slow(const struct place *, uint32_t number);
uint32_t place_number_slow(const struct place *, uint32_t index);

static inline int place_is_here(const struct place *p, uint32_t number)
{
    if (__builtin_expect(p->step == 1, 1) &&
        (__builtin_expect(number - p->first < p->plain, 1) || !p->spares))
        return number - p->first < p->plain;
    return place_proc(p, number) == p->proc;
}

/* Number of this process's entity `index`. */
static inline uint32_t place_number(const struct place *p, uint32_t index)
{
    if (__builtin_expect(index < p->plain, 1))
        return p->first + index * p->step;
    return index < p->count ? p->number[index] : place_number_slow(p, index);
}

/* Index of an entity of this process. */
static inline uint32_t place_index(const struct place *p, uint32_t number)
{
    if (__builtin_expect(p->step == 1, 1) && __builtin_expect(number - p->first < p->plain, 1))
        return number - p->first;
    return place_index_slow(p, number);
}

#endif
