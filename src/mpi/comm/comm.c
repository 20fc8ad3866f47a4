/*
 * comm.c - communicator objects: the table of handles, MPI_COMM_WORLD and MPI_COMM_SELF, lifetime.
 *
 * Invariants
 *  1. One object per communicator and process, shared by all members there. refs counts those that
 *     have not freed it, keeps the pending operations that still need it; it is freed when both are
 *     0. The predefined ones are never freed, so their refs never fall.
 *  2. Contexts are never used twice in a run, so a message of a freed communicator cannot match a
 *     receive of a later one.
 *  3. From the first MPI_Comm_free by a member to the last, a bitmap records who has freed it: a
 *     rank that uses a handle it has freed gets an error, although the object lives.
 *  4. A freed index is used again only after COMM_REST others were freed (stale handles show).
 *
 * A handle is 0x84000000 + index as in MPICH, 0x44000000 and 0x44000001 for the predefined ones.
 */
#include "mpi/comm/comm.h"

#include <assert.h>
#include <string.h>

#include "base/array.h"
#include "base/log.h"
#include "base/mem.h"
#include "mpi/comm/app.h"
#include "mpi/comm/errhandler.h"
#include "mpi/comm/topology.h"
#include "mpi/ext.h"
#include "mpi/above.h"

#define COMM_HANDLE 0x84000000u
#define HANDLE_CLASS 0xfc000000u
#define HANDLE_INDEX 0x03ffffffu
#define COMM_REST 256

static char world_name[] = "MPI_COMM_WORLD", self_name[] = "MPI_COMM_SELF";
static struct mpi_group self_group = {.size = 1, .refs = 1, .kind = MPI_GROUP_SELF};
static struct mpi_comm comm_world, comm_self;

/* Slots hold a communicator, or while free the next free index + 1 shifted left and marked odd. */
static struct {
    uintptr_t *slots;
    uint32_t count, cap;
    uint32_t free_head, free_tail, free_count; /* head and tail: index + 1 */
    uint64_t next_ctx; /* interleaved between processes: no two use the same */
    struct map by_desc;
} table;

void mpi_comm_init(uint32_t world_size)
{
    comm_world = (struct mpi_comm){.ctx = 0, .refs = world_size, .handle = MPI_COMM_WORLD};
    comm_world.group = mpi_group_make_range(0, 1, world_size);
    comm_world.errhandler = MPI_ERRHANDLER_NULL; /* the default, see errhandler.c */
    comm_world.name = world_name;
    comm_self = (struct mpi_comm){.ctx = 2, .refs = world_size, .handle = MPI_COMM_SELF};
    comm_self.group = &self_group;
    comm_self.errhandler = MPI_ERRHANDLER_NULL;
    comm_self.name = self_name;
    table.next_ctx = 4 + 2 * (uint64_t)mpi_rank_map()->proc;
    map_init(&table.by_desc);
}

/* ---- handles ---- */

static uint32_t index_take(struct mpi_comm *c)
{
    uint32_t index;

    if (table.free_count > COMM_REST) {
        index = table.free_head - 1;
        assert(index < table.count && (table.slots[index] & 1));
        table.free_head = (uint32_t)(table.slots[index] >> 1);
        table.free_count--;
    } else {
        if (table.count > HANDLE_INDEX)
            log_fatal("too many communicators at a time (more than %u)", HANDLE_INDEX);
        ARRAY_RESERVE(table.slots, table.cap, table.count + 1, 64);
        index = table.count++;
    }
    table.slots[index] = (uintptr_t)c;
    return index;
}

static void index_free(uint32_t index)
{
    assert(index < table.count && !(table.slots[index] & 1) && table.free_count < table.count);
    table.slots[index] = 1;
    if (table.free_count++)
        table.slots[table.free_tail - 1] = (uintptr_t)(index + 1) << 1 | 1;
    else
        table.free_head = index + 1;
    table.free_tail = index + 1;
}

/* A rank's MPI_COMM_WORLD: spawned ranks have their own. */
static struct mpi_comm *world_of(const struct mpi_rank *self)
{
    const struct mpi_app *app = self ? mpi_app_of(self) : NULL;

    return app && app->world ? app->world : &comm_world;
}

static inline struct mpi_comm *world(void)
{
    return __builtin_expect(mpi_world.has_spawned, 0) ? world_of(mpi_self()) : &comm_world;
}

struct mpi_comm *mpi_comm_at(MPI_Comm handle)
{
    uint32_t bits = (uint32_t)handle, index = bits & HANDLE_INDEX;

    if (handle == MPI_COMM_WORLD)
        return world();
    if (handle == MPI_COMM_SELF)
        return &comm_self;
    if ((bits & HANDLE_CLASS) != COMM_HANDLE || index >= table.count || table.slots[index] & 1)
        return NULL;
    return (struct mpi_comm *)table.slots[index];
}

/* Is the rank a member that has not freed it? In scheduler context (NULL) always true. */
static inline int holds(const struct mpi_comm *c, const struct mpi_rank *self)
{
    int rank;

    if (!self)
        return 1;
    rank = mpi_group_rank_of(c->group, mpi_rank_id(self));
    return rank >= 0 && !(c->left && c->left[rank >> 6] >> (rank & 63) & 1);
}

struct mpi_comm *mpi_comm_get(MPI_Comm handle)
{
    struct mpi_comm *c;

    if (handle == MPI_COMM_WORLD)
        return world();
    if (handle == MPI_COMM_SELF)
        return &comm_self;
    c = mpi_comm_at(handle);
    return c && holds(c, mpi_self()) ? c : NULL;
}

struct mpi_comm *mpi_comm_of(const struct mpi_rank *self, MPI_Comm handle)
{
    struct mpi_comm *c = handle == MPI_COMM_WORLD ? world_of(self) : mpi_comm_at(handle);

    return c && (c == &comm_self || handle == MPI_COMM_WORLD || holds(c, self)) ? c : NULL;
}

/* ---- lifetime ---- */

uint32_t mpi_group_members_here(const struct mpi_group *g)
{
    const struct rank_map *map = mpi_rank_map();
    uint32_t n = 0;

    if (g->kind == MPI_GROUP_RANGE)
        return rank_map_count_range(map, g->first, g->stride, g->size);
    if (map->procs == 1)
        return g->size;
    for (uint32_t i = 0; i < g->size; i++)
        n += rank_map_is_here(map, g->list[i]);
    return n;
}

struct mpi_comm *mpi_comm_of_desc(mpi_comm_desc desc)
{
    uint64_t *slot = map_find(&table.by_desc, desc);

    return slot ? (struct mpi_comm *)(uintptr_t)*slot : NULL;
}

struct mpi_comm *mpi_comm_of_ctx(uint32_t ctx)
{
    return ctx == comm_world.ctx  ? &comm_world
           : ctx == comm_self.ctx ? &comm_self
                                  : mpi_comm_of_desc(ctx);
}

static uint32_t ctx_take(void)
{
    uint64_t ctx = table.next_ctx;

    if (ctx > UINT32_MAX - 3)
        log_fatal("too many communicators in one run (more than %u)", UINT32_MAX / 2);
    table.next_ctx += 2 * (uint64_t)mpi_rank_map()->procs;
    return (uint32_t)ctx;
}

struct mpi_comm *mpi_comm_new(struct mpi_group *g, MPI_Errhandler errhandler)
{
    return mpi_comm_new_at(ctx_take(), 0, g, NULL, errhandler);
}

struct mpi_comm *mpi_comm_new_inter(struct mpi_group *low, struct mpi_group *high,
                                    MPI_Errhandler errhandler)
{
    uint32_t ctx = ctx_take();

    mpi_comm_new_at(ctx, 1, mpi_group_ref(high), mpi_group_ref(low), errhandler);
    return mpi_comm_new_at(ctx, 0, low, high, errhandler);
}

/* One side of an intercommunicator as a communicator. */
static struct mpi_comm *make_local(const struct mpi_comm *side)
{
    struct mpi_comm *c = mem_zalloc(sizeof *c);

    c->ctx = side->ctx;
    c->refs = 1;
    c->handle = side->handle;
    c->group = side->group;
    c->errhandler = side->errhandler;
    return c;
}

struct mpi_comm *mpi_comm_new_at(uint32_t ctx, int high, struct mpi_group *g,
                                 struct mpi_group *remote, MPI_Errhandler errhandler)
{
    struct mpi_comm *c = mem_zalloc(sizeof *c);

    c->ctx = ctx;
    c->refs = mpi_group_members_here(g);
    *map_insert(&table.by_desc, ctx + (uint32_t)high, NULL) = (uintptr_t)c;
    c->group = g;
    c->errhandler = errhandler;
    c->handle = (MPI_Comm)(COMM_HANDLE | index_take(c));
    if (remote) {
        c->remote = remote;
        c->high = high;
        c->local = make_local(c);
    }
    return c;
}

static void destroy(struct mpi_comm *c)
{
    map_remove(&table.by_desc, c->ctx + (uint32_t)c->high);
    index_free((uint32_t)c->handle & HANDLE_INDEX);
    mpi_group_unref(c->group);
    if (c->remote)
        mpi_group_unref(c->remote);
    if (c->topo)
        mpi_topo_unref(c->topo);
    mpi_text_drop(c->origin);
    mpi_text_drop(c->site);
    mem_free(c->local);
    mem_free(c->left);
    mem_free(c);
}

void mpi_comm_discard(struct mpi_comm *c)
{
    if (!c->refs && !c->keeps)
        destroy(c);
}

void mpi_comm_keep(struct mpi_comm *c)
{
    c->keeps++;
}

void mpi_comm_drop(struct mpi_comm *c)
{
    c->keeps--;
    if (!c->keeps && !c->refs)
        destroy(c);
}

void mpi_comm_leave(struct mpi_rank *self, struct mpi_comm *c)
{
    uint32_t rank = (uint32_t)mpi_comm_my_rank(c, self);

    mpi_errhandler_forget(self, c->handle);
    mpi_names_forget(self, c->handle);
    mpi_world.above->comm_left(self, c);
    c->refs--;
    if (!c->refs && !c->keeps) {
        destroy(c);
        return;
    }
    if (!c->left)
        c->left = mem_zalloc((c->group->size / 64 + 1) * sizeof *c->left);
    c->left[rank >> 6] |= (uint64_t)1 << (rank & 63);
}

struct mpi_group *mpi_comm_group_ref(const struct mpi_rank *self, const struct mpi_comm *c)
{
    if (c->group->kind == MPI_GROUP_SELF)
        return mpi_group_make_range(mpi_rank_id(self), 1, 1);
    return mpi_group_ref(c->group);
}

struct mpi_group *mpi_comm_first_ranks(const struct mpi_rank *self, const struct mpi_comm *c, int n)
{
    struct mpi_group *all = mpi_comm_group_ref(self, c), *g;
    uint32_t *list;

    if ((uint32_t)n == all->size)
        return all;
    if (all->kind == MPI_GROUP_RANGE) {
        g = mpi_group_make_range(all->first, all->stride, (uint32_t)n);
    } else {
        list = mem_alloc((size_t)n * sizeof *list);
        memcpy(list, all->list, (size_t)n * sizeof *list);
        g = mpi_group_make_list(list, (uint32_t)n);
    }
    mpi_group_unref(all);
    return g;
}
