/*
 * sync_active.c - fences, and post/start/complete/wait (MPI-4.0 12.5.1, 12.5.2).
 *
 * A fence waits until all operations of the caller have been answered, then for all others in a
 * barrier: a rank that leaves it knows that every operation of the epoch has been applied
 * everywhere. The assertions save nothing but the end of the epoch (MPI_MODE_NOSUCCEED).
 *
 * MPI_Win_post notifies each origin; MPI_Win_start waits for the notification of each target.
 * MPI_Win_complete waits for the data that comes to the caller alone; the target's agent serves the
 * message it sends after the operations before it, so that MPI_Win_wait, which counts them, returns
 * when all is applied. MPI_Win_test is a decision at the caller's clock.
 */
#include "mpi/coll/coll.h"
#include "mpi/rma/rma_internal.h"
#include "mpi_impl.h"

int mpi_win_fence(struct mpi_rank *self, int assert, MPI_Win win)
{
    struct rma_win *w;
    int rc = rma_check_win(self, win, &w);

    if (rc)
        return rc;
    if (w->epoch > RMA_EPOCH_FENCE || w->post)
        return mpi_raise_win(self, win, MPI_ERR_RMA_SYNC, "another epoch is open: %s is missing",
                             w->post                       ? "MPI_Win_wait"
                             : w->epoch == RMA_EPOCH_START ? "MPI_Win_complete"
                                                           : "MPI_Win_unlock");
    rma_await_all(self, w);
    rma_peers_trim(w);
    w->epoch = assert &MPI_MODE_NOSUCCEED ? RMA_EPOCH_NONE : RMA_EPOCH_FENCED;
    rc = mpi_coll_barrier(self, w->comm);
    return rc ? rc : rma_outcome(self, w);
}

/* ---- post, start, complete, wait ---- */

static int check_group(struct mpi_rank *self, MPI_Win win, const struct rma_win *w, MPI_Group group,
                       struct mpi_group **g)
{
    *g = mpi_group_get(group);
    if (!*g)
        return mpi_raise_win(self, win, MPI_ERR_GROUP, "0x%08x is not a group", (unsigned)group);
    for (uint32_t i = 0; i < (*g)->size; i++)
        if (mpi_comm_rank_of(w->comm, mpi_group_world_rank(*g, i)) < 0)
            return mpi_raise_win(self, win, MPI_ERR_GROUP,
                                 "the group has members outside the window's group");
    return MPI_SUCCESS;
}

static void tell_posted(struct mpi_rank *self, const struct rma_win *w, uint32_t world)
{
    struct mpi_msg *m = mpi_service_new(self, world, MPI_SERVICE_RMA, 0);

    m->kind = MPI_MSG_REPLY;
    m->tag = RMA_POST;
    m->ctx = w->comm->ctx;
    mpi_clock_add(self, mpi_world.send_overhead);
    mpi_service_send(m, (struct device_send){.t = self->ent.clock});
}

int mpi_win_post(struct mpi_rank *self, MPI_Group group, int assert, MPI_Win win)
{
    struct mpi_group *g;
    struct rma_win *w;
    int rc = rma_check_win(self, win, &w);

    if (!rc)
        rc = check_group(self, win, w, group, &g);
    if (rc)
        return rc;
    if (w->post || w->epoch == RMA_EPOCH_FENCE)
        return mpi_raise_win(self, win, MPI_ERR_RMA_SYNC,
                             "another exposure epoch is open: %s is missing",
                             w->post ? "MPI_Win_wait" : "MPI_Win_fence");
    if (w->epoch == RMA_EPOCH_FENCED)
        w->epoch = RMA_EPOCH_NONE;
    w->post = mpi_group_ref(g);
    w->incomplete = (int32_t)g->size;
    for (uint32_t i = 0; i < g->size && !(assert &MPI_MODE_NOCHECK); i++)
        tell_posted(self, w, mpi_group_world_rank(g, i));
    return MPI_SUCCESS;
}

int mpi_win_start(struct mpi_rank *self, MPI_Group group, int assert, MPI_Win win)
{
    struct mpi_group *g;
    struct rma_win *w;
    int rc = rma_check_win(self, win, &w);

    if (!rc)
        rc = check_group(self, win, w, group, &g);
    if (rc)
        return rc;
    if (w->epoch > RMA_EPOCH_FENCED)
        return mpi_raise_win(self, win, MPI_ERR_RMA_SYNC, "another access epoch is open");
    w->epoch = RMA_EPOCH_START;
    w->start = mpi_group_ref(g);
    for (uint32_t i = 0; i < g->size && !(assert &MPI_MODE_NOCHECK); i++) {
        struct rma_peer *p = rma_peer_get(w, mpi_group_world_rank(g, i));

        p->unposted++;
        rma_await(self, w, &p->unposted, "for MPI_Win_post of", p->world);
        mpi_clock_reach(self, p->posted);
    }
    return MPI_SUCCESS;
}

int mpi_win_complete(struct mpi_rank *self, MPI_Win win)
{
    struct mpi_group *g;
    struct rma_win *w;
    int rc = rma_check_win(self, win, &w);

    if (rc)
        return rc;
    if (w->epoch != RMA_EPOCH_START)
        return mpi_raise_win(self, win, MPI_ERR_RMA_SYNC, "MPI_Win_start is missing");
    g = w->start;
    for (uint32_t i = 0; i < g->size; i++)
        rma_tell(self, rma_peer_get(w, mpi_group_world_rank(g, i)), RMA_COMPLETE, 0);
    rma_await(self, w, &w->fetching, "for its operations", -1);
    rma_await_sent(self, w, &w->unsent);
    mpi_clock_reach(self, w->local);
    w->epoch = RMA_EPOCH_NONE;
    w->start = NULL;
    mpi_group_unref(g);
    return rma_outcome(self, w);
}

static int check_posted(struct mpi_rank *self, MPI_Win win, struct rma_win **w)
{
    int rc = rma_check_win(self, win, w);

    if (!rc && !(*w)->post)
        rc = mpi_raise_win(self, win, MPI_ERR_RMA_SYNC, "MPI_Win_post is missing");
    return rc;
}

static void end_exposure(struct rma_win *w)
{
    mpi_group_unref(w->post);
    w->post = NULL;
}

int mpi_win_wait(struct mpi_rank *self, MPI_Win win)
{
    struct rma_win *w;
    int rc = check_posted(self, win, &w);

    if (rc)
        return rc;
    rma_await(self, w, &w->incomplete, "for MPI_Win_complete of the group it posted to", -1);
    mpi_clock_reach(self, w->completed);
    end_exposure(w);
    return MPI_SUCCESS;
}

int mpi_win_test(struct mpi_rank *self, MPI_Win win, int *flag)
{
    struct rma_win *w;
    int rc = check_posted(self, win, &w);

    if (rc)
        return rc;
    mpi_clock_add(self, mpi_world.test_cost);
    mpi_drain(self);
    while (w->incomplete > 0)
        if (mpi_decision_step(self, self->ent.clock, NULL))
            break;
    *flag = w->incomplete <= 0 && w->completed <= self->ent.clock;
    if (!*flag)
        return MPI_SUCCESS;
    engine_progress(&mpi_world.engine, self->ent.clock);
    end_exposure(w);
    return MPI_SUCCESS;
}
