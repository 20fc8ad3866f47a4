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

/* Ranks that were spawned come last, and define a world of their own. */
static uint64_t world_size(struct trace *t)
{
    uint64_t size = t->header.ranks;
    int is_spawned = 1;
    while (size > 1 && is_spawned) {
        struct trace_local local;
        trace_local_read(&local, t, size - 1);
        is_spawned = local.tables[TRACE_DEFINE_COMM].items[TRACE_LOCAL_WORLD].identity !=
                     TRACE_COMM_WORLD;
        trace_local_fini(&local);
        size -= (uint64_t)is_spawned;
    }
    return size;
}

void handles_book_init(struct handles_book *b, struct trace *t)
{
    *b = (struct handles_book){.trace = t};
    map_init(&b->comm_by_identity);
    map_init(&b->region_by_hash);
    map_init(&b->sizes_by_hash);
    map_init(&b->groups_by_hash);
    add_comm(b, TRACE_COMM_WORLD, mem_strdup("MPI_COMM_WORLD"), world_size(t));
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
    map_fini(&b->groups_by_hash);
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
    snprintf(name, sizeof name, "comm-%zu-of-%llu", b->comm_count - b->unnamed - 1,
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

static const struct handles_neighbours *neighbours_of(const struct trace_local_item *item)
{
    uint64_t in = item->source_count, out = item->destination_count;
    if (!item->has_topology)
        return NULL;
    struct handles_neighbours *n = mem_alloc(sizeof *n + (in + out) * sizeof *n->ranks);
    *n = (struct handles_neighbours){in, out, n->ranks, n->ranks + in};
    if (in)
        memcpy(n->ranks, item->sources, in * sizeof *n->ranks);
    if (out)
        memcpy(n->ranks + in, item->destinations, out * sizeof *n->ranks);
    return n;
}

static struct handles_mine mine_of(struct handles_book *b, const struct trace_local_item *item,
                                   uint64_t rank)
{
    if (!item->kind)
        return (struct handles_mine){.comm = HANDLES_NONE};
    if (item->identity == TRACE_COMM_SELF(rank))
        return (struct handles_mine){.comm = HANDLES_SELF, .neighbours = neighbours_of(item)};
    struct handles_mine mine = {.comm = comm_number(b, item),
                                .rank = (uint32_t)item->rank,
                                .is_inter = item->other_size > 0,
                                .neighbours = neighbours_of(item)};
    const struct handles_comm *c = &b->comms[mine.comm];
    if (mine.is_inter && c->ranks)
        mine.is_second = mine.rank >= c->rank_count || c->ranks[mine.rank] != (int64_t)rank;
    return mine;
}

/* Ranks create the windows of a communicator in the same order, so a window is the same as that of
 * another rank if as many were created before it; files likewise. */
enum { WINDOW = 1, FILE_HANDLE };

static uint32_t derived_number(struct handles_book *b, uint32_t comm, unsigned what,
                               uint64_t before)
{
    int is_new;
    uint64_t identity = mix(mix(b->comms[comm].identity, what), before);
    uint64_t *number = map_insert(&b->comm_by_identity, identity, &is_new);
    if (!is_new)
        return (uint32_t)*number - 1;
    *number = b->comm_count + 1;
    add_comm(b, identity, NULL, 0);
    b->unnamed++;
    struct handles_comm *made = &b->comms[b->comm_count - 1];
    *made = b->comms[comm];
    made->identity = identity;
    made->name = NULL;
    return (uint32_t)b->comm_count - 1;
}

static void read_wins(struct handles *h, struct handles_book *b, const struct trace_table *wins)
{
    struct map before; /* windows of each communicator */
    if (!wins->count)
        return;
    map_init(&before);
    h->win_count = (uint32_t)wins->count;
    h->wins = mem_alloc(h->win_count * sizeof *h->wins);
    for (uint32_t i = 0; i < h->win_count; i++) {
        const struct trace_local_item *item = &wins->items[i];
        struct handles_mine mine = item->kind ? handles_comm(h, item->lower)
                                              : (struct handles_mine){.comm = HANDLES_NONE};
        mine.neighbours = NULL;
        if (mine.comm != HANDLES_NONE && mine.comm != HANDLES_SELF)
            mine.comm = derived_number(b, mine.comm, WINDOW,
                                       (*map_insert(&before, mine.comm, NULL))++);
        h->wins[i] = mine;
    }
    map_fini(&before);
}

void handles_open(struct handles *h, struct handles_book *b, int64_t file, struct handles_mine comm,
                  uint64_t before)
{
    if (file < 0 || file >= (int64_t)h->file_count)
        return;
    comm.neighbours = NULL;
    if (comm.comm != HANDLES_NONE && comm.comm != HANDLES_SELF)
        comm.comm = derived_number(b, comm.comm, FILE_HANDLE, before);
    h->files[file] = comm;
}

static void read_files(struct handles *h, const struct trace_table *files)
{
    h->file_count = (uint32_t)files->count;
    h->files = mem_alloc((files->count + 1) * sizeof *h->files);
    for (uint32_t i = 0; i < h->file_count; i++)
        h->files[i] = (struct handles_mine){.comm = HANDLES_NONE};
}

static const struct handles_group *group_of(struct handles_book *b,
                                            const struct trace_local_item *item)
{
    uint64_t hash = item->size;
    int is_new;
    if (!item->kind)
        return NULL;
    for (uint64_t i = 0; i < item->size; i++)
        hash = mix(hash, (uint64_t)item->members[i]);
    uint64_t *known = map_insert(&b->groups_by_hash, hash, &is_new);
    if (is_new) {
        struct handles_group *g = mem_alloc(sizeof *g + item->size * sizeof *g->ranks);
        g->count = item->size;
        if (item->size)
            memcpy(g->ranks, item->members, item->size * sizeof *g->ranks);
        *known = (uint64_t)(uintptr_t)g;
        keep(b, g);
    }
    return (const struct handles_group *)(uintptr_t)*known;
}

static void read_groups(struct handles *h, struct handles_book *b, const struct trace_table *groups)
{
    h->group_count = (uint32_t)groups->count;
    h->groups = mem_alloc((groups->count + 1) * sizeof *h->groups);
    for (uint32_t i = 0; i < h->group_count; i++)
        h->groups[i] = group_of(b, &groups->items[i]);
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
    h->world = comms->items[TRACE_LOCAL_WORLD].identity == TRACE_COMM_WORLD
                   ? (struct handles_mine){.comm = HANDLES_WORLD, .rank = (uint32_t)rank}
                   : mine_of(b, &comms->items[TRACE_LOCAL_WORLD], rank);
    if (comms->count > 2) {
        h->mine_count = (uint32_t)comms->count - 2;
        h->mine = mem_alloc(h->mine_count * sizeof *h->mine);
        for (uint32_t i = 0; i < h->mine_count; i++)
            h->mine[i] = mine_of(b, &comms->items[i + 2], rank);
    }
    read_wins(h, b, &local.tables[TRACE_DEFINE_WIN]);
    read_files(h, &local.tables[TRACE_DEFINE_FILE]);
    read_groups(h, b, &local.tables[TRACE_DEFINE_GROUP]);
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
    for (uint32_t i = 0; i < h->mine_count; i++)
        mem_free((void *)h->mine[i].neighbours);
    mem_free(h->mine);
    mem_free((void *)h->world.neighbours);
    mem_free(h->wins);
    mem_free(h->files);
    mem_free(h->groups);
    mem_free(h->regions);
    *h = (struct handles){0};
}
