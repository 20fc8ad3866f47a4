/*
 * win_shared.c - windows whose memory all ranks of a node can load from and store to (MPI-4.0
 * 12.2.3).
 *
 * All ranks of a process share the simulator's memory, so one allocation suffices: rank 0 makes it,
 * with a table of which rank has which part, and sends the others its address. That requires all
 * ranks of the window to be in one native process; if --procs or --placement splits the ranks of a
 * node, the window is refused.
 *
 * The simulator does not see the program's loads and stores: they take effect in the order in which
 * ranks are run, between two synchronisations.
 */
#include <string.h>

#include "base/mem.h"
#include "mpi/coll/coll.h"
#include "mpi/comm/check.h"
#include "mpi/info.h"
#include "mpi/rma/rma_internal.h"
#include "mpi_impl.h"

#define PAGE 4096u /* alignment of parts that need not be contiguous */

/* What each rank requests and gets. */
struct portion {
    uint32_t world, spread; /* spread: alloc_shared_noncontig */
    int64_t size, disp_unit;
    char *base;
};

struct rma_shared {
    uint32_t refs, count;
    char *memory;
    struct portion at[];
};

/* The result that rank 0 sends to the others. */
struct verdict {
    struct rma_shared *shared;
    int64_t error; /* an MPI class */
};

void rma_shared_leave(struct rma_shared *s)
{
    if (--s->refs)
        return;
    mem_free(s->memory);
    mem_free(s);
}

/* Are all ranks on one node and in one process? */
static int check_nodes(const struct rma_shared *s)
{
    for (uint32_t i = 0; i < s->count; i++)
        if (net_node(&mpi_world.net, s->at[i].world) != net_node(&mpi_world.net, s->at[0].world) ||
            !rank_map_is_here(mpi_rank_map(), s->at[i].world) || vp_is_remote(s->at[i].world))
            return MPI_ERR_RMA_SHARED;
    return MPI_SUCCESS;
}

static int64_t rounded(const struct portion *p)
{
    return p->spread ? (p->size + PAGE - 1) / PAGE * PAGE : p->size;
}

/* Allocates memory for all, and assigns each rank its part. */
static int allocate(struct rma_shared *s)
{
    int64_t total = 0;
    char *at;

    for (uint32_t i = 0; i < s->count; i++)
        if (__builtin_add_overflow(total, rounded(&s->at[i]), &total))
            return MPI_ERR_NO_MEM;
    s->memory = vp_peer_memory((size_t)total + PAGE);
    if (!s->memory)
        return MPI_ERR_NO_MEM;
    memset(s->memory, 0, (size_t)total + PAGE);
    at = s->memory + (PAGE - (uintptr_t)s->memory % PAGE) % PAGE;
    for (uint32_t i = 0; i < s->count; i++) {
        s->at[i].base = s->at[i].size ? at : NULL; /* as in MPICH */
        at += rounded(&s->at[i]);
    }
    return MPI_SUCCESS;
}

/* Collective on c: all portions at rank 0, its verdict at all. */
static int agree(struct mpi_rank *self, struct mpi_comm *c, const struct portion *mine,
                 struct verdict *v)
{
    struct mpi_type *byte = mpi_type_get(MPI_BYTE);
    struct rma_shared *s = NULL;
    uint32_t n = c->group->size;
    int me = mpi_comm_my_rank(c, self), rc;

    if (me == 0) {
        s = mem_zalloc(sizeof *s + n * sizeof s->at[0]);
        s->refs = s->count = n;
    }
    rc = mpi_coll_gather(self, c, mine, sizeof *mine, byte, s ? s->at : NULL, sizeof *mine, byte,
                         0);
    if (rc)
        return rc;
    if (me == 0) {
        *v = (struct verdict){s, check_nodes(s)};
        if (!v->error)
            v->error = allocate(s);
        if (v->error)
            mem_free(s);
    }
    return mpi_coll_bcast(self, c, v, sizeof *v, byte, 0);
}

static int raise_verdict(struct mpi_rank *self, MPI_Comm comm, int error)
{
    if (error == MPI_ERR_RMA_SHARED)
        return mpi_raise(self, comm, error,
                         "the ranks are not on one node, or not in one native process: use "
                         "MPI_Comm_split_type, and --procs 1 or a placement that keeps nodes "
                         "together");
    return mpi_raise(self, comm, error, "no memory for the window");
}

int mpi_win_allocate_shared_c(struct mpi_rank *self, MPI_Aint size, MPI_Aint disp_unit,
                              MPI_Info info, MPI_Comm comm, void *baseptr, MPI_Win *win)
{
    struct portion mine;
    struct verdict v = {NULL, MPI_SUCCESS};
    struct mpi_comm *c;
    struct rma_win *w;
    const char *spread;
    int rc = rma_check_create(self, comm, size, disp_unit, info, &c);

    if (rc)
        return rc;
    memset(&mine, 0, sizeof mine);
    spread = info == MPI_INFO_NULL ? NULL : mpi_info_lookup(info, "alloc_shared_noncontig");
    mine = (struct portion){mpi_rank_id(self), spread && strcmp(spread, "true") == 0, size,
                            disp_unit, NULL};
    rc = agree(self, c, &mine, &v);
    if (rc || v.error)
        return rc ? rc : raise_verdict(self, comm, (int)v.error);
    rc = rma_win_new(self, c, MPI_WIN_FLAVOR_SHARED, disp_unit, info, &w);
    if (rc)
        return rc;
    w->shared = v.shared;
    w->base = v.shared->at[mpi_comm_my_rank(c, self)].base;
    w->size = size;
    *(void **)baseptr = w->base;
    return rma_win_open(self, w, win);
}

/* MPI_PROC_NULL means the first rank that has any memory. */
static const struct portion *portion_of(const struct rma_shared *s, int rank)
{
    uint32_t i = 0;

    if (rank != MPI_PROC_NULL)
        return &s->at[rank];
    while (i + 1 < s->count && s->at[i].size == 0)
        i++;
    return &s->at[i];
}

int mpi_win_shared_query_c(struct mpi_rank *self, MPI_Win win, int rank, MPI_Aint *size,
                           MPI_Aint *disp_unit, void *baseptr)
{
    const struct portion *p;
    struct rma_win *w;
    int rc = rma_check_win(self, win, &w);

    if (rc)
        return rc;
    if (!w->shared)
        return mpi_raise_win(self, win, MPI_ERR_RMA_FLAVOR, "the window is not a shared one");
    if (rank != MPI_PROC_NULL && (rank < 0 || (uint32_t)rank >= w->shared->count))
        return mpi_raise_win(self, win, MPI_ERR_RANK,
                             "rank %d is not in the window's group (size %u)", rank,
                             w->shared->count);
    p = portion_of(w->shared, rank);
    *size = p->size;
    *disp_unit = p->disp_unit;
    *(void **)baseptr = p->base;
    return MPI_SUCCESS;
}

int mpi_win_shared_query(struct mpi_rank *self, MPI_Win win, int rank, MPI_Aint *size,
                         int *disp_unit, void *baseptr)
{
    MPI_Aint unit = 0;
    int rc = mpi_win_shared_query_c(self, win, rank, size, &unit, baseptr);
    if (!rc)
        *disp_unit = (int)unit;
    return rc;
}
