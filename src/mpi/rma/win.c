/*
 * win.c - windows: handles, the parts of ranks, creating and freeing.
 *
 * A window's handle is MPICH's pattern 0xa0000000 with the handle index of the window's
 * communicator. That communicator, a duplicate of the user's group that no program sees, is the
 * shared object. A rank finds its own part of a window by the context.
 *
 * Creating a window ends with a barrier, so that no operation reaches a part that does not exist
 * yet; freeing one begins with a barrier, after all of the caller's operations have been answered.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "mpi/attr.h"
#include "mpi/coll/coll.h"
#include "mpi/comm/check.h"
#include "mpi/comm/errhandler.h"
#include "mpi/create/create.h"
#include "mpi/p2p/tags.h"
#include "mpi/rma/rma_internal.h"
#include "mpi/state.h"
#include "mpi_impl.h"

#define COMM_HANDLE 0x84000000u
#define HANDLE_CLASS 0xfc000000u

/* ---- handles ---- */

struct rma_win *rma_win_find(const struct mpi_rank *self, uint32_t ctx)
{
    uint64_t *at = mpi_state_find(self, MPI_STATE_windows, ctx);

    return at ? (struct rma_win *)(uintptr_t)*at : NULL;
}

/* The rank's part of a window; NULL if it holds no such window. */
static struct rma_win *get_win(const struct mpi_rank *self, MPI_Win win)
{
    uint32_t bits = (uint32_t)win;
    const struct mpi_comm *c;

    if ((bits & HANDLE_CLASS) != MPI_WIN_HANDLE)
        return NULL;
    c = mpi_comm_at((MPI_Comm)(COMM_HANDLE | (bits & MPI_WIN_INDEX)));
    return c ? rma_win_find(self, c->ctx) : NULL;
}

MPI_Win rma_win_handle(const struct rma_win *w)
{
    return mpi_comm_window(w->comm);
}

int rma_check_win(struct mpi_rank *self, MPI_Win win, struct rma_win **out)
{
    *out = get_win(self, win);
    if (*out)
        return MPI_SUCCESS;
    if (win == MPI_WIN_NULL)
        return mpi_raise_win(self, win, MPI_ERR_WIN, "the window is MPI_WIN_NULL");
    return mpi_raise_win(self, win, MPI_ERR_WIN, "0x%08x is not a window of this rank",
                         (unsigned)win);
}

int rma_check_ptr(struct mpi_rank *self, MPI_Win win, const void *p, const char *what)
{
    return p ? MPI_SUCCESS
             : mpi_raise_win(self, win, MPI_ERR_ARG, "the argument '%s' is a null pointer", what);
}

/* ---- creating ---- */

int rma_check_create(struct mpi_rank *self, MPI_Comm comm, MPI_Aint size, MPI_Aint disp_unit,
                     MPI_Info info, struct mpi_comm **out)
{
    int rc = mpi_check_comm(self, comm, out), nkeys;

    if (!rc && info != MPI_INFO_NULL)
        rc = mpi_info_get_nkeys(self, info, &nkeys);
    if (rc)
        return rc;
    if ((*out)->remote)
        return mpi_raise(self, comm, MPI_ERR_COMM, "the communicator is an intercommunicator");
    if (size < 0)
        return mpi_raise(self, comm, MPI_ERR_SIZE, "the size of the window is negative (%ld)",
                         (long)size);
    if (disp_unit <= 0)
        return mpi_raise(self, comm, MPI_ERR_DISP, "the displacement unit is not positive (%ld)",
                         (long)disp_unit);
    return MPI_SUCCESS;
}

/* The window's communicator: the caller's view of a new one with the group of c. */
static int make_comm(struct mpi_rank *self, struct mpi_comm *c, struct mpi_comm **out)
{
    static char name[] = "a window's group";
    mpi_comm_desc desc = 0;
    int me = mpi_comm_my_rank(c, self), rc;

    if (me == 0)
        desc = mpi_comm_describe(mpi_comm_new(mpi_comm_group_ref(self, c),
                                              mpi_errhandler_of(self, c)),
                                 (enum mpi_fn)self->fn, c);
    rc = mpi_comm_bcast_desc(self, c, NULL, me, (int)c->group->size, MPI_TAG_WIN, &desc);
    if (rc)
        return rc;
    *out = mpi_comm_get(mpi_comm_adopt(self, c, desc));
    (*out)->name = name;
    (*out)->is_window = 1;
    return MPI_SUCCESS;
}

int rma_win_new(struct mpi_rank *self, struct mpi_comm *c, int flavor, MPI_Aint disp_unit,
                MPI_Info info, struct rma_win **out)
{
    struct mpi_comm *own;
    struct rma_win *w;
    int rc = make_comm(self, c, &own);

    if (rc)
        return rc;
    w = mem_zalloc(sizeof *w);
    w->comm = own;
    w->flavor = flavor;
    w->model = MPI_WIN_UNIFIED;
    w->disp_unit = disp_unit;
    w->disp_unit_int = (int)disp_unit;
    w->info = MPI_INFO_NULL;
    map_init(&w->by_world);
    if (info != MPI_INFO_NULL)
        rc = mpi_info_dup(self, info, &w->info);
    self->sends_apart = 1;
    *mpi_state_insert(self, MPI_STATE_windows, own->ctx) = (uint64_t)(uintptr_t)w;
    *out = w;
    return rc;
}

int rma_win_open(struct mpi_rank *self, struct rma_win *w, MPI_Win *out)
{
    int rc = mpi_coll_barrier(self, w->comm);

    if (!rc)
        *out = rma_win_handle(w);
    return rc;
}

/* ---- freeing ---- */

/* The caller frees its part. */
static void drop_win(struct mpi_rank *self, struct rma_win *w)
{
    mpi_state_remove(self, MPI_STATE_windows, w->comm->ctx);
    rma_peers_trim(w);
    for (struct rma_region *r = w->regions, *next; r; r = next) {
        next = r->next;
        pool_free(&mpi_world.pool, r, sizeof *r);
    }
    if (w->shared)
        rma_shared_leave(w->shared);
    if (w->info != MPI_INFO_NULL)
        mpi_info_free(self, &w->info);
    free(w->memory); /* the user's: not from mem_alloc */
    mpi_comm_leave(self, w->comm);
    map_fini(&w->by_world);
    mem_free(w->name);
    mem_free(w);
}

int mpi_win_free(struct mpi_rank *self, MPI_Win *win)
{
    struct rma_win *w;
    int rc = rma_check_win(self, *win, &w);
    if (rc)
        return rc;
    if (w->epoch > RMA_EPOCH_FENCE || w->post)
        return mpi_raise_win(self, *win, MPI_ERR_RMA_SYNC, "the window is in use: %s",
                             w->post ? "MPI_Win_wait is missing" : "its epoch has not ended");
    rc = mpi_attr_delete_all(self, *win);
    if (rc)
        return mpi_raise_win(self, *win, rc, "an attribute function returned %d", rc);
    rma_await_all(self, w);
    rc = rma_outcome(self, w);
    mpi_coll_barrier(self, w->comm);
    mpi_errhandler_win_freed(self, *win);
    drop_win(self, w);
    *win = MPI_WIN_NULL;
    return rc;
}
