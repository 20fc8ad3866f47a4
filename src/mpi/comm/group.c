/*
 * group.c - group objects: interning, handles, rank lookup.
 *
 * Invariants
 *  1. Two groups with the same members in the same order are one object: equality is pointer
 *     equality. So a million ranks that ask for the group of MPI_COMM_WORLD share 100 bytes.
 *  2. A group that is an arithmetic sequence is kept as one (a group of one has stride 1), the
 *     empty group is group_empty, everything else is a list. No other form exists twice.
 *  3. refs >= handles. The handle is valid while handles > 0; without handles but with refs (a
 *     communicator's group) the object is found by interning and gets handles anew.
 *  4. A freed index is used again only after GROUP_REST others were freed, so that a stale handle
 *     is noticed rather than taken for a new group.
 *
 * A handle is 0x88000000 + index, as MPICH has them. Handles are shared: one freed too often by one
 * rank is noticed only when no other rank holds it.
 */
#include "mpi/comm/comm.h"

#include <assert.h>
#include <string.h>

#include "base/array.h"
#include "base/hostile.h"
#include "base/mem.h"

#define GROUP_HANDLE 0x88000000u
#define HANDLE_CLASS 0xfc000000u
#define HANDLE_INDEX 0x03ffffffu
#define GROUP_REST 256 /* a power of two, for the ring */

/* The table: objects by index; free indices queue up, oldest first, linked through `slots`. */
static struct {
    struct mpi_group **slots;
    uint32_t count, cap;
    uint32_t *free;
    uint32_t free_head, free_count, free_cap;
    uint64_t serial;
    struct map by_hash; /* hash -> chain of struct mpi_group */
} table;

static struct mpi_group group_empty = {.kind = MPI_GROUP_RANGE, .stride = 1, .refs = 1};

static uint64_t mix(uint64_t x)
{
    x = (x ^ (x >> 32)) * 0xd6e8feb86659fd93u;
    x = (x ^ (x >> 32)) * 0xd6e8feb86659fd93u;
    return x ^ (x >> 32);
}

/* ---- indices ---- */

static void index_free(uint32_t index)
{
    assert(index < table.count && table.slots[index] && table.free_count < table.count);
    table.slots[index] = NULL;
    ARRAY_RING_RESERVE(table.free, table.free_cap, table.free_head, table.free_count,
                       2 * GROUP_REST);
    table.free[(table.free_head + table.free_count++) & (table.free_cap - 1)] = index;
}

static uint32_t index_take(struct mpi_group *g)
{
    uint32_t index;

    if (table.free_count > GROUP_REST) {
        index = table.free[table.free_head];
        table.free_head = (table.free_head + 1) & (table.free_cap - 1);
        table.free_count--;
    } else {
        ARRAY_RESERVE(table.slots, table.cap, table.count + 1, 64);
        index = table.count++;
    }
    assert(index < table.count);
    table.slots[index] = g;
    return index;
}

/* ---- interning ---- */

static int same(const struct mpi_group *a, const struct mpi_group *b)
{
    if (a->hash != b->hash || a->size != b->size || a->kind != b->kind)
        return 0;
    if (a->kind == MPI_GROUP_RANGE)
        return a->first == b->first && a->stride == b->stride;
    return memcmp(a->list, b->list, a->size * sizeof *a->list) == 0;
}

/* The object equal to *key, with a ref for the caller; key->list is taken over or freed. */
static struct mpi_group *intern(struct mpi_group *key)
{
    uint64_t *head = map_insert(&table.by_hash, key->hash, NULL);
    struct mpi_group *g;

    for (g = (struct mpi_group *)(uintptr_t)*head; g; g = g->hash_next)
        if (same(g, key)) {
            mem_free(key->list);
            return mpi_group_ref(g);
        }
    assert(key->size > 0 && !key->inverse && !key->nodes);
    g = mem_alloc(sizeof *g);
    *g = *key;
    g->refs = 1;
    g->serial = ++table.serial;
    g->hash_next = (struct mpi_group *)(uintptr_t)*head;
    *head = (uint64_t)(uintptr_t)g;
    g->index = index_take(g);
    return g;
}

static void destroy(struct mpi_group *g)
{
    uint64_t *head = map_find(&table.by_hash, g->hash);
    struct mpi_group *at = (struct mpi_group *)(uintptr_t)*head;

    assert(table.slots[g->index] == g && g->refs == 0);
    if (at == g) {
        *head = (uint64_t)(uintptr_t)g->hash_next;
    } else {
        while (at->hash_next != g)
            at = at->hash_next;
        at->hash_next = g->hash_next;
    }
    if (!*head)
        map_remove(&table.by_hash, g->hash);
    index_free(g->index);
    if (g->inverse) {
        map_fini(g->inverse);
        mem_free(g->inverse);
    }
    if (g->nodes)
        g->nodes->drop(g->nodes);
    mem_free(g->list);
    mem_free(g);
}

struct mpi_group *mpi_group_make_range(int64_t first, int64_t stride, uint32_t size)
{
    struct mpi_group key = {.size = size, .kind = MPI_GROUP_RANGE, .first = first};

    if (!size)
        return mpi_group_ref(&group_empty);
    key.stride = size == 1 ? 1 : stride;
    key.hash = mix(mix(mix((uint64_t)first) + (uint64_t)key.stride) + size);
    return intern(&key);
}

struct mpi_group *mpi_group_make_list(uint32_t *ranks, uint32_t n)
{
    struct mpi_group key = {.size = n, .kind = MPI_GROUP_LIST, .list = ranks};
    int64_t stride = n > 1 ? (int64_t)ranks[1] - ranks[0] : 1;
    uint64_t hash = mix(n);
    uint32_t i = 1;

    while (i < n && (int64_t)ranks[i] - ranks[i - 1] == stride)
        i++;
    if (i >= n) {
        struct mpi_group *g = mpi_group_make_range(n ? ranks[0] : 0, stride, n);

        mem_free(ranks);
        return g;
    }
    for (i = 0; i < n; i++)
        hash = mix(hash + ranks[i]);
    key.hash = hash;
    return intern(&key);
}

/* ---- lifetime and handles ---- */

struct mpi_group *mpi_group_ref(struct mpi_group *g)
{
    assert_hot(!hostile_is_stale(g) && g->refs < UINT32_MAX);
    g->refs++;
    return g;
}

void mpi_group_unref(struct mpi_group *g)
{
    assert(g->refs > 0);
    if (--g->refs == 0)
        destroy(g);
}

MPI_Group mpi_group_publish(struct mpi_group *g)
{
    if (g == &group_empty) {
        g->refs--;
        return MPI_GROUP_EMPTY;
    }
    g->handles++;
    return (MPI_Group)(GROUP_HANDLE | g->index);
}

struct mpi_group *mpi_group_get(MPI_Group handle)
{
    uint32_t bits = (uint32_t)handle, index = bits & HANDLE_INDEX;
    struct mpi_group *g;

    if (handle == MPI_GROUP_EMPTY)
        return &group_empty;
    if ((bits & HANDLE_CLASS) != GROUP_HANDLE || index >= table.count)
        return NULL;
    g = table.slots[index];
    return g && g->handles ? g : NULL;
}

void mpi_group_retract(struct mpi_group *g)
{
    if (g == &group_empty)
        return;
    g->handles--;
    mpi_group_unref(g);
}

/* ---- messages ---- */

struct mpi_group_wire mpi_group_to_wire(const struct mpi_group *g)
{
    struct mpi_group_wire w;

    memset(&w, 0, sizeof w);
    w.first = g->first;
    w.stride = g->stride;
    w.size = g->size;
    w.kind = g->kind;
    return w;
}

struct mpi_group *mpi_group_from_wire(const struct mpi_group_wire *w, const void *list)
{
    uint32_t n = mpi_group_wire_list(w), *ranks;

    if (!n)
        return mpi_group_make_range(w->first, w->stride, w->size);
    ranks = mem_alloc(n * sizeof *ranks);
    memcpy(ranks, list, n * sizeof *ranks);
    return mpi_group_make_list(ranks, n);
}

/* ---- lookup ---- */

static void invert(struct mpi_group *g)
{
    g->inverse = mem_alloc(sizeof *g->inverse);
    map_init(g->inverse);
    for (uint32_t i = 0; i < g->size; i++)
        *map_insert(g->inverse, g->list[i], NULL) = i;
}

int mpi_group_rank_of(struct mpi_group *g, uint32_t world)
{
    uint64_t *at;

    if (g->kind == MPI_GROUP_RANGE) {
        int64_t away = (int64_t)world - g->first, rank;

        if (g->stride == 1)
            return away >= 0 && away < (int64_t)g->size ? (int)away : MPI_UNDEFINED;
        if (away % g->stride != 0)
            return MPI_UNDEFINED;
        rank = away / g->stride;
        return rank >= 0 && rank < (int64_t)g->size ? (int)rank : MPI_UNDEFINED;
    }
    if (g->kind == MPI_GROUP_SELF)
        return world == mpi_rank_id(mpi_self()) ? 0 : MPI_UNDEFINED;
    if (!g->inverse)
        invert(g);
    at = map_find(g->inverse, world);
    return at ? (int)*at : MPI_UNDEFINED;
}
