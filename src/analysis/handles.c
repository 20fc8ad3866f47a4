/*
 * handles.c - local definitions, reduced to what an analysis needs.
 */
#include "analysis/handles.h"

#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/mem.h"
#include "base/rng.h"

static uint64_t mix(uint64_t a, uint64_t b)
{
    uint64_t state = a * RNG_SPLITMIX_STEP ^ b;
    return rng_splitmix(&state);
}

static void keep(struct handles_book *b, void *memory)
{
    ARRAY_EXTEND(b->memory, b->memory_count);
    b->memory[b->memory_count++] = memory;
}

static struct handles_comm *add_comm(struct handles_book *b, uint64_t identity, char *name,
                                     uint64_t size)
{
    ARRAY_EXTEND(b->comms, b->comm_count);
    struct handles_comm *c = &b->comms[b->comm_count++];
    *c = (struct handles_comm){.identity = identity, .name = name, .size = size, .rank_count = size};
    return c;
}

static uint32_t add_region(struct handles_book *b, const char *text)
{
    uint64_t hash = 1;
    int is_new;
    for (const char *at = text; *at; at++)
        hash = mix(hash, (uint8_t)*at);
    uint64_t *number = map_insert(&b->region_by_hash, hash, &is_new);
    if (is_new) {
        ARRAY_EXTEND(b->regions, b->region_count);
        b->regions[b->region_count] = mem_strdup(text);
        *number = b->region_count++;
    }
    return (uint32_t)*number;
}

void handles_book_init(struct handles_book *b, struct trace *t)
{
    *b = (struct handles_book){.trace = t};
    map_init(&b->comm_by_identity);
    map_init(&b->region_by_hash);
    map_init(&b->sizes_by_hash);
    add_comm(b, TRACE_COMM_WORLD, mem_strdup("MPI_COMM_WORLD"), t->header.ranks);
    add_comm(b, 0, mem_strdup("MPI_COMM_SELF"), 1);
    *map_insert(&b->comm_by_identity, TRACE_COMM_WORLD, NULL) = HANDLES_WORLD + 1;
    add_region(b, "");
}

void handles_book_fini(struct handles_book *b)
{
    for (size_t i = 0; i < b->comm_count; i++)
        mem_free(b->comms[i].name);
    for (size_t i = 0; i < b->region_count; i++)
        mem_free(b->regions[i]);
    for (size_t i = 0; i < b->memory_count; i++)
        mem_free(b->memory[i]);
    mem_free(b->comms);
    mem_free(b->regions);
    mem_free(b->memory);
    map_fini(&b->comm_by_identity);
    map_fini(&b->region_by_hash);
    map_fini(&b->sizes_by_hash);
    *b = (struct handles_book){0};
}

/* ---- of a rank ---- */

/* A communicator without a name is named by its number, in the order in which they are found, and
 * its size. */
static uint32_t comm_number(struct handles_book *b, const struct trace_local_item *item)
{
    int is_new;
    uint64_t *number = map_insert(&b->comm_by_identity, item->identity, &is_new);
    if (!is_new)
        return (uint32_t)*number - 1;
    const struct trace_comm *def = trace_definitions_comm(&b->trace->definitions, item->identity);
    char name[64];
    snprintf(name, sizeof name, "comm-%zu-of-%llu", b->comm_count - 1,
             (unsigned long long)(item->size + item->other_size));
    *number = b->comm_count + 1;
    struct handles_comm *c = add_comm(b, item->identity,
                                      mem_strdup(def && def->name ? def->name : name),
                                      item->size + item->other_size);
    c->rank_count = 0; /* its members are not known */
    if (def) {
        c->ranks = def->ranks;
        c->rank_count = def->size;
        c->others = def->others;
        c->other_count = def->other_size;
    }
    return (uint32_t)b->comm_count - 1;
}

static struct handles_mine mine_of(struct handles_book *b, const struct trace_local_item *item,
                                   uint64_t rank)
{
    if (!item->kind)
        return (struct handles_mine){HANDLES_NONE, 0, 0, 0};
    if (item->identity == TRACE_COMM_SELF(rank))
        return (struct handles_mine){HANDLES_SELF, 0, 0, 0};
    struct handles_mine mine = {comm_number(b, item), (uint32_t)item->rank, 0,
                                item->other_size > 0};
    const struct handles_comm *c = &b->comms[mine.comm];
    if (mine.is_inter && c->ranks)
        mine.is_second = mine.rank >= c->rank_count || c->ranks[mine.rank] != (int64_t)rank;
    return mine;
}

/* Most ranks have the same datatypes. */
static const uint64_t *sizes_of(struct handles_book *b, const struct trace_table *types)
{
    uint64_t *sizes = mem_alloc((types->count + 1) * sizeof *sizes), hash = types->count;
    int is_new;
    sizes[0] = types->count;
    for (size_t i = 0; i < types->count; i++) {
        sizes[1 + i] = types->items[i].kind ? types->items[i].size : 0;
        hash = mix(hash, sizes[1 + i]);
    }
    uint64_t *known = map_insert(&b->sizes_by_hash, hash, &is_new);
    if (is_new) {
        *known = (uint64_t)(uintptr_t)sizes;
        keep(b, sizes);
        return sizes;
    }
    mem_free(sizes);
    return (const uint64_t *)(uintptr_t)*known;
}

void handles_read(struct handles *h, struct handles_book *b, uint64_t rank)
{
    struct trace_local local;
    trace_local_read(&local, b->trace, rank);
    const struct trace_table *comms = &local.tables[TRACE_DEFINE_COMM],
                             *names = &local.tables[TRACE_DEFINE_NAME];
    *h = (struct handles){.rank = rank, .sizes = sizes_of(b, &local.tables[TRACE_DEFINE_TYPE])};
    if (comms->count > 2) {
        h->mine_count = (uint32_t)comms->count - 2;
        h->mine = mem_alloc(h->mine_count * sizeof *h->mine);
        for (uint32_t i = 0; i < h->mine_count; i++)
            h->mine[i] = mine_of(b, &comms->items[i + 2], rank);
    }
    if (names->count) {
        h->region_count = (uint32_t)names->count;
        h->regions = mem_alloc(h->region_count * sizeof *h->regions);
        for (uint32_t i = 0; i < h->region_count; i++)
            h->regions[i] = names->items[i].kind ? add_region(b, names->items[i].text) : 0;
    }
    trace_local_fini(&local);
}

void handles_fini(struct handles *h)
{
    mem_free(h->mine);
    mem_free(h->regions);
    *h = (struct handles){0};
}
