/*
 * rank_map.c - block, cyclic and listed distribution of entities over processes.
 */
#include "engine/rank_map.h"

#include <string.h>

#include "base/mem.h"

static void init_list(struct rank_map *p)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < p->world; i++)
        p->count += p->owner[i] == p->proc;
    p->number = mem_alloc(p->count * sizeof *p->number);
    for (uint32_t i = 0; i < p->world; i++)
        if (p->owner[i] == p->proc)
            p->number[n++] = i;
}

void rank_map_init(struct rank_map *p, enum rank_map_kind kind, uint32_t world, uint32_t procs,
                   uint32_t proc, const uint32_t *owner)
{
    memset(p, 0, sizeof *p);
    p->world = world;
    p->procs = procs;
    p->proc = proc;
    p->owner = owner;
    p->kind = (uint8_t)(procs == 1 ? RANK_MAP_BLOCK : kind);
    p->size = world / procs;
    p->big = world % procs;
    switch (p->kind) {
    case RANK_MAP_BLOCK:
        p->step = 1;
        p->first = proc * p->size + (proc < p->big ? proc : p->big);
        p->count = p->size + (proc < p->big);
        break;
    case RANK_MAP_CYCLIC:
        p->step = procs;
        p->first = proc;
        p->count = p->size + (proc < p->big);
        break;
    case RANK_MAP_LIST:
        init_list(p);
        break;
    }
    p->room = p->count;
    p->plain = p->kind == RANK_MAP_LIST ? 0 : p->count;
}

void rank_map_init_sections(struct rank_map *p, enum rank_map_kind kind,
                            const struct rank_map_section *sections, uint32_t count, uint32_t proc)
{
    const struct rank_map_section *last = &sections[count - 1], *own = sections;

    while (proc - own->proc >= own->procs)
        own++;
    rank_map_init(p, kind, own->count, own->procs, proc - own->proc, NULL);
    p->kind = (uint8_t)kind;
    p->first += own->first;
    p->proc = proc;
    p->world = last->first + last->count;
    p->procs = last->proc + last->procs;
    p->sections = sections;
    p->section_count = count;
}

void rank_map_add_spares(struct rank_map *p, uint32_t spares)
{
    p->spares = spares;
    p->spare = p->world + (p->proc + p->procs - p->world % p->procs) % p->procs;
    p->room = p->count;
    if (p->spare < p->world + spares)
        p->room += (p->world + spares - p->spare - 1) / p->procs + 1;
    if (p->procs == 1)
        p->plain = p->room;
}

/* Of the first `big` blocks with size + 1 entities, and others with `size`, the one that has an
 * entity. */
static uint32_t find_block(uint32_t big, uint32_t size, uint32_t number)
{
    uint32_t in_big = big * (size + 1);

    return number < in_big ? number / (size + 1) : big + (number - in_big) / size;
}

static uint32_t proc_of_part(const struct rank_map *p, uint32_t number)
{
    uint32_t low = 0, high = p->section_count; /* low has a first that is not above */
    const struct rank_map_section *q;

    while (high - low > 1) {
        uint32_t mid = low + (high - low) / 2;

        if (p->sections[mid].first <= number)
            low = mid;
        else
            high = mid;
    }
    q = &p->sections[low];
    number -= q->first;
    return q->proc + (p->kind == RANK_MAP_CYCLIC
                          ? number % q->procs
                          : find_block(q->count % q->procs, q->count / q->procs, number));
}

uint32_t rank_map_proc(const struct rank_map *p, uint32_t number)
{
    if (number >= p->world)
        return number % p->procs;
    if (p->sections)
        return proc_of_part(p, number);
    switch (p->kind) {
    case RANK_MAP_CYCLIC:
        return number % p->procs;
    case RANK_MAP_LIST:
        return p->owner[number];
    }
    return find_block(p->big, p->size, number);
}

uint32_t rank_map_index_slow(const struct rank_map *p, uint32_t number)
{
    uint32_t low = 0, high = p->count;

    if (number >= p->world)
        return p->count + (number - p->spare) / p->procs;
    if (p->kind != RANK_MAP_LIST)
        return (number - p->first) / p->step;
    while (low < high) {
        uint32_t mid = low + (high - low) / 2;

        if (p->number[mid] < number)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

/* Of a spare. */
uint32_t rank_map_number_slow(const struct rank_map *p, uint32_t index)
{
    return p->spare + (index - p->count) * p->procs;
}

/* Members of the arithmetic sequence (stride > 0) below `limit`. */
static int64_t below(int64_t first, int64_t stride, uint32_t n, int64_t limit)
{
    int64_t k = limit <= first ? 0 : (limit - first + stride - 1) / stride;

    return k < n ? k : n;
}

uint32_t rank_map_count_range(const struct rank_map *p, int64_t first, int64_t stride, uint32_t n)
{
    uint32_t count = 0;

    if (p->procs == 1)
        return n;
    if (stride < 0) { /* count them from the other end */
        first += stride * ((int64_t)n - 1);
        stride = -stride;
    }
    if (p->kind == RANK_MAP_BLOCK && stride > 0) {
        uint32_t spare = (uint32_t)below(first, stride, n, p->world);

        count = (uint32_t)(below(first, stride, n, (int64_t)p->first + p->count) -
                           below(first, stride, n, p->first));
        first += stride * spare;
        n -= spare;
    }
    for (uint32_t i = 0; i < n; i++)
        count += rank_map_is_here(p, (uint32_t)(first + (int64_t)i * stride));
    return count;
}
