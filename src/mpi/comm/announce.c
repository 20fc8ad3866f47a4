/*
 * announce.c - how the members of a new communicator in other processes learn of it.
 *
 *     maker's process                      another process with members
 *     mpi_comm_new, mpi_comm_describe
 *       one item per such process -------> mpi_comm_learn: the object, and wakes who waits for it
 *       the descriptor, as a virtual
 *       message, maybe through others ---> mpi_comm_adopt: finds the object, or waits for it
 *
 * Items are not part of virtual time, and there is no quiescence while one is under way: a rank
 * that waits for one is never taken for deadlocked.
 */
#include <string.h>

#include "base/mem.h"
#include "mpi/comm.h"
#include "mpi/p2p/p2p_internal.h"
#include "mpi/team.h"
#include "mpi/topo/topo.h"

struct announcement {
    uint32_t ctx;
    int32_t errhandler;
    int64_t first, stride; /* of a range */
    uint32_t size, kind;   /* enum mpi_group_kind; a list follows */
    int32_t ndims;         /* -1: no topology; else dimensions and periods follow */
};

static struct {
    uint32_t *ranks; /* indices of those that wait for a communicator */
    uint32_t count, cap;
} waiting;

/* ---- telling ---- */

static void encode(const struct mpi_comm *c, struct buf *out)
{
    const struct mpi_group *g = c->group;
    struct announcement a;

    memset(&a, 0, sizeof a);
    a.ctx = c->ctx;
    /* handlers that programs make are known in their process only; members use their own anyway */
    a.errhandler = c->errhandler == MPI_ERRORS_RETURN ? MPI_ERRORS_RETURN : MPI_ERRORS_ARE_FATAL;
    a.first = g->first;
    a.stride = g->stride;
    a.size = g->size;
    a.kind = g->kind;
    a.ndims = c->topo ? c->topo->ndims : -1;
    buf_add(out, &a, sizeof a);
    if (g->kind == MPI_GROUP_LIST)
        buf_add(out, g->list, g->size * sizeof *g->list);
    if (c->topo) {
        buf_add(out, c->topo->dims, (size_t)a.ndims * sizeof(int));
        buf_add(out, c->topo->periods, (size_t)a.ndims * sizeof(int));
    }
}

static void mark(uint8_t *has, uint32_t rank)
{
    has[place_proc(mpi_place(), rank)] = 1;
}

/* Which processes have members. */
static void find_processes(const struct mpi_group *g, uint8_t *has)
{
    uint32_t a = mpi_group_world_rank(g, 0), b = mpi_group_world_rank(g, g->size - 1);

    if (g->kind == MPI_GROUP_RANGE && mpi_place()->kind == PLACE_BLOCK &&
        (g->stride == 1 || g->stride == -1)) {
        uint32_t from = place_proc(mpi_place(), a < b ? a : b);
        uint32_t to = place_proc(mpi_place(), a < b ? b : a);

        memset(has + from, 1, to - from + 1);
        return;
    }
    for (uint32_t i = 0; i < g->size; i++)
        mark(has, mpi_group_world_rank(g, i));
}

static void announce(const struct mpi_comm *c)
{
    const struct place *place = mpi_place();
    uint8_t *has = mem_zalloc(place->procs);
    struct buf text;

    find_processes(c->group, has);
    buf_init(&text);
    encode(c, &text);
    for (uint32_t q = 0; q < place->procs; q++)
        if (has[q] && q != place->proc)
            mpi_team_item(q, MPI_TEAM_COMM, text.data, text.len);
    buf_fini(&text);
    mem_free(has);
}

mpi_comm_desc mpi_comm_describe(struct mpi_comm *c)
{
    mpi_comm_desc desc = c->ctx;

    if (c->refs < c->group->size)
        announce(c);
    mpi_comm_discard(c);
    return desc;
}

/* ---- learning ---- */

static void wake_waiting(void)
{
    uint32_t n = waiting.count;

    waiting.count = 0;
    for (uint32_t i = 0; i < n; i++)
        engine_wake(&mpi_world.engine, waiting.ranks[i]);
}

void mpi_comm_learn(const void *data, size_t bytes)
{
    const char *at = (const char *)data + sizeof(struct announcement);
    struct announcement a;
    struct mpi_group *g;
    struct mpi_comm *c;

    memcpy(&a, data, sizeof a);
    if (a.kind == MPI_GROUP_LIST) {
        uint32_t *list = mem_alloc(a.size * sizeof *list);

        memcpy(list, at, a.size * sizeof *list);
        at += a.size * sizeof *list;
        g = mpi_group_make_list(list, a.size);
    } else {
        g = mpi_group_make_range(a.first, a.stride, a.size);
    }
    c = mpi_comm_new_at(a.ctx, g, a.errhandler);
    if (a.ndims >= 0) {
        int *numbers = mem_alloc(2 * (size_t)a.ndims * sizeof *numbers);

        memcpy(numbers, at, 2 * (size_t)a.ndims * sizeof *numbers);
        c->topo = mpi_topo_cart(a.ndims, numbers, numbers + a.ndims);
        mem_free(numbers);
    }
    (void)bytes;
    wake_waiting();
}

static struct mpi_comm *await(struct mpi_rank *self, mpi_comm_desc desc)
{
    struct mpi_comm *c;

    while (!(c = mpi_comm_of_ctx(desc))) {
        if (waiting.count == waiting.cap) {
            waiting.cap = waiting.cap ? 2 * waiting.cap : 64;
            waiting.ranks = mem_realloc(waiting.ranks, waiting.cap * sizeof *waiting.ranks);
        }
        waiting.ranks[waiting.count++] = mpi_rank_index(self);
        mpi_drain(self);
        mpi_block(self, VTIME_NEVER, 1, NULL, 0);
    }
    return c;
}

MPI_Comm mpi_comm_adopt(struct mpi_rank *self, const struct mpi_comm *parent, mpi_comm_desc desc)
{
    struct mpi_comm *c;
    MPI_Errhandler mine;

    if (desc == MPI_COMM_DESC_NULL)
        return MPI_COMM_NULL;
    c = await(self, desc);
    mine = mpi_errhandler_of(self, parent);
    if (mine != c->errhandler)
        mpi_errhandler_set_for(self, c, mine);
    return c->handle;
}
