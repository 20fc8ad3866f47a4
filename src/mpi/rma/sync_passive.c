/*
 * sync_passive.c - locks, flushes and MPI_Win_sync (MPI-4.0 12.5.3 to 12.5.5).
 *
 * MPI_Win_lock waits until the target's agent grants the lock. MPI_Win_lock_all sends nothing: a
 * target is locked when it is first used (origin.c). Unlocking sends a message after the operations
 * and waits for its answer, and with it for all of theirs. A flush waits for the answers to what
 * was sent; a local flush for incoming data, and until large buffers are free.
 */
#include "mpi/rma/rma_internal.h"
#include "mpi_impl.h"

static int check_rank(struct mpi_rank *self, MPI_Win win, const struct rma_win *w, int rank)
{
    if (rank == MPI_PROC_NULL || (rank >= 0 && (uint32_t)rank < w->comm->group->size))
        return MPI_SUCCESS;
    return mpi_raise_win(self, win, MPI_ERR_RANK, "rank %d is not in the window's group (size %u)",
                         rank, w->comm->group->size);
}

/* ---- one target ---- */

static int check_lock(struct mpi_rank *self, MPI_Win win, struct rma_win **w, int lock_type,
                      int rank)
{
    const struct rma_peer *p;
    int rc = rma_check_win(self, win, w);

    if (!rc)
        rc = check_rank(self, win, *w, rank);
    if (rc)
        return rc;
    if (lock_type != MPI_LOCK_SHARED && lock_type != MPI_LOCK_EXCLUSIVE)
        return mpi_raise_win(self, win, MPI_ERR_LOCKTYPE, "%d is not a type of lock", lock_type);
    if ((*w)->epoch > RMA_EPOCH_FENCED && (*w)->epoch != RMA_EPOCH_LOCK)
        return mpi_raise_win(self, win, MPI_ERR_RMA_SYNC, "another access epoch is open");
    p = rank == MPI_PROC_NULL ? NULL : rma_peer_find(*w, rank);
    if (p && p->lock)
        return mpi_raise_win(self, win, MPI_ERR_RMA_SYNC, "rank %d is locked already", rank);
    return MPI_SUCCESS;
}

int mpi_win_lock(struct mpi_rank *self, int lock_type, int rank, int assert, MPI_Win win)
{
    struct rma_win *w;
    struct rma_peer *p;
    int rc = check_lock(self, win, &w, lock_type, rank);

    if (rc || rank == MPI_PROC_NULL)
        return rc;
    w->epoch = RMA_EPOCH_LOCK;
    w->locks++;
    p = rma_peer_get(w, mpi_comm_world_rank(w->comm, (uint32_t)rank));
    p->lock = (uint8_t)lock_type;
    p->unchecked = (assert &MPI_MODE_NOCHECK) != 0;
    if (p->unchecked)
        return MPI_SUCCESS;
    rma_tell(self, p, RMA_LOCK, lock_type);
    rma_await(self, w, &p->pending, "for the lock of", p->world);
    mpi_clock_reach(self, p->done);
    return MPI_SUCCESS;
}

int mpi_win_unlock(struct mpi_rank *self, int rank, MPI_Win win)
{
    struct rma_win *w;
    struct rma_peer *p;
    int rc = rma_check_win(self, win, &w);

    if (!rc)
        rc = check_rank(self, win, w, rank);
    if (rc || rank == MPI_PROC_NULL)
        return rc;
    p = w->epoch == RMA_EPOCH_LOCK ? rma_peer_find(w, rank) : NULL;
    if (!p || !p->lock)
        return mpi_raise_win(self, win, MPI_ERR_RMA_SYNC, "rank %d is not locked", rank);
    if (!p->unchecked)
        rma_tell(self, p, RMA_UNLOCK, 0);
    rma_await_peer(self, p);
    p->lock = 0;
    rma_peer_drop(w, p);
    if (--w->locks == 0)
        w->epoch = RMA_EPOCH_NONE;
    return rma_outcome(self, w);
}

/* ---- all targets ---- */

int mpi_win_lock_all(struct mpi_rank *self, int assert, MPI_Win win)
{
    struct rma_win *w;
    int rc = rma_check_win(self, win, &w);

    if (rc)
        return rc;
    if (w->epoch > RMA_EPOCH_FENCED)
        return mpi_raise_win(self, win, MPI_ERR_RMA_SYNC, "another access epoch is open");
    w->epoch = RMA_EPOCH_LOCK_ALL;
    w->unchecked = (assert &MPI_MODE_NOCHECK) != 0;
    return MPI_SUCCESS;
}

int mpi_win_unlock_all(struct mpi_rank *self, MPI_Win win)
{
    struct rma_win *w;
    int rc = rma_check_win(self, win, &w);

    if (rc)
        return rc;
    if (w->epoch != RMA_EPOCH_LOCK_ALL)
        return mpi_raise_win(self, win, MPI_ERR_RMA_SYNC, "MPI_Win_lock_all is missing");
    for (struct rma_peer *p = w->first; p; p = p->next) {
        if (p->lock && !p->unchecked)
            rma_tell(self, p, RMA_UNLOCK, 0);
        p->lock = 0;
    }
    rma_await_all(self, w);
    rma_peers_trim(w);
    w->epoch = RMA_EPOCH_NONE;
    return rma_outcome(self, w);
}

/* ---- flushes ---- */

/* The target's record, NULL if it has not been used; it must be locked. */
static int check_flush(struct mpi_rank *self, MPI_Win win, int rank, struct rma_win **w,
                       struct rma_peer **p)
{
    int rc = rma_check_win(self, win, w);

    *p = NULL;
    if (!rc)
        rc = check_rank(self, win, *w, rank);
    if (rc || rank == MPI_PROC_NULL)
        return rc;
    *p = rma_peer_find(*w, rank);
    if ((*w)->epoch == RMA_EPOCH_LOCK_ALL || ((*w)->epoch == RMA_EPOCH_LOCK && *p && (*p)->lock))
        return MPI_SUCCESS;
    return mpi_raise_win(self, win, MPI_ERR_RMA_SYNC, "rank %d is not locked", rank);
}

static int check_flush_all(struct mpi_rank *self, MPI_Win win, struct rma_win **w)
{
    int rc = rma_check_win(self, win, w);

    if (!rc && (*w)->epoch < RMA_EPOCH_LOCK)
        rc = mpi_raise_win(self, win, MPI_ERR_RMA_SYNC,
                           "MPI_Win_lock or MPI_Win_lock_all is missing");
    return rc;
}

int mpi_win_flush(struct mpi_rank *self, int rank, MPI_Win win)
{
    struct rma_win *w;
    struct rma_peer *p;
    int rc = check_flush(self, win, rank, &w, &p);

    if (rc || !p)
        return rc;
    rma_await_peer(self, p);
    return rma_outcome(self, w);
}

int mpi_win_flush_local(struct mpi_rank *self, int rank, MPI_Win win)
{
    struct rma_win *w;
    struct rma_peer *p;
    int rc = check_flush(self, win, rank, &w, &p);

    if (rc || !p)
        return rc;
    rma_await(self, w, &p->fetching, "for the window of", p->world);
    rma_await_sent(self, w, &p->unsent);
    mpi_clock_reach(self, p->local);
    return MPI_SUCCESS;
}

int mpi_win_flush_all(struct mpi_rank *self, MPI_Win win)
{
    struct rma_win *w;
    int rc = check_flush_all(self, win, &w);

    if (rc)
        return rc;
    rma_await_peers(self, w);
    return rma_outcome(self, w);
}

int mpi_win_flush_local_all(struct mpi_rank *self, MPI_Win win)
{
    struct rma_win *w;
    int rc = check_flush_all(self, win, &w);

    if (rc)
        return rc;
    rma_await(self, w, &w->fetching, "for its operations", -1);
    rma_await_sent(self, w, &w->unsent);
    mpi_clock_reach(self, w->local);
    return MPI_SUCCESS;
}

/* Programs poll window memory with it, so it is like a test: it is decided at the rank's clock,
 * when all earlier operations of others on the window have been applied. */
int mpi_win_sync(struct mpi_rank *self, MPI_Win win)
{
    struct rma_win *w;
    int rc = rma_check_win(self, win, &w);

    if (rc)
        return rc;
    mpi_clock_add(self, mpi_world.test_cost);
    mpi_drain(self);
    while (!mpi_decision_step(self, self->ent.clock, NULL))
        ;
    return MPI_SUCCESS;
}
