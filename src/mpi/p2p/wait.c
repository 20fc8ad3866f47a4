/*
 * wait.c - blocking until something has come.
 *
 * A rank that blocks first drains its inbox, takes the decisions that are safe, and suspends with
 * the time at which its next decision is due. It is woken by arrivals or when the decision is safe,
 * and checks everything again.
 *
 * In a strand (strand.h) blocking suspends the strand, and requests are in the pool.
 */
#include <string.h>

#include "mpi/p2p/bind.h"
#include "base/hostile.h"
#include "mpi/p2p/service.h"
#include "mpi/p2p/strand.h"
#include "mpi/side.h"
#include "mpi/thread.h"

/* Only the rank's process can say which messages some receives get, and it may be in the same call
 * as the rank. */
static void suspend_unbound(struct mpi_rank *self, vtime due)
{
    if (mpi_bind_any_candidate(self))
        engine_block_busy(&mpi_world.engine, &self->ent, mpi_rank_index(self), due, 1);
    else
        engine_block(&mpi_world.engine, &self->ent, mpi_rank_index(self), due, 1);
    vp_suspend();
    if (self->ent.wake == ENGINE_WAKE_LOOK)
        mpi_bind_guess(self);
}

void mpi_suspend(struct mpi_rank *self, vtime due, uint32_t wake_after, mpi_holds *holds,
                 const void *arg)
{
    if (__builtin_expect(vp_private.threaded, 0)) {
        if (mpi_side_current)
            mpi_side_block(due, holds, arg);
        else
            mpi_thread_block(self, due, wake_after, holds, arg);
        return;
    }
    if (__builtin_expect(mpi_world.binds, 0) && mpi_wild_count(self)) {
        suspend_unbound(self, due);
        return;
    }
    engine_block(&mpi_world.engine, &self->ent, mpi_rank_index(self), due, wake_after);
    vp_suspend();
}

/* Returns whether the engine asks what the rank waits for. */
static inline int block(struct mpi_rank *self, vtime due, uint32_t wake_after,
                        struct mpi_req *first, mpi_holds *holds, const void *arg)
{
    if (self->ent.inbox)
        return 0; /* a decision just made the rank send to itself */
    if (__builtin_expect(mpi_strand_current != NULL, 0)) {
        mpi_strand_wait(self, first);
        return 0;
    }
    mpi_suspend(self, due, mpi_has_strands(self) ? 1 : wake_after, holds, arg);
    return self->ent.wake == ENGINE_WAKE_EXPLAIN;
}

int mpi_block_asked(struct mpi_rank *self, vtime due, uint32_t wake_after, struct mpi_req *first,
                    mpi_holds *holds, const void *arg)
{
    return block(self, due, wake_after, first, holds, arg);
}

void mpi_block_until(struct mpi_rank *self, vtime due, uint32_t wake_after, struct mpi_req *shown,
                     mpi_holds *holds, const void *arg)
{
    int asked = block(self, due, wake_after, shown, holds, arg);

    for (; asked; asked = self->ent.wake == ENGINE_WAKE_EXPLAIN) {
        mpi_explain_req(self, shown);
        mpi_side_explained();
    }
}

void mpi_block(struct mpi_rank *self, vtime due, uint32_t wake_after, struct mpi_req *shown)
{
    mpi_block_until(self, due, wake_after, shown, NULL, NULL);
}

int mpi_req_is_done(struct mpi_rank *self, const void *req)
{
    (void)self;
    return ((const struct mpi_req *)req)->flags & MPI_REQ_DONE;
}

int mpi_decision_step(struct mpi_rank *self, vtime due, struct mpi_req *shown)
{
    vtime wild;

    if (!mpi_decide(self, due, &wild)) {
        if (wild > due && engine_is_safe(&mpi_world.engine, mpi_rank_index(self), due))
            return 1;
        mpi_block(self, wild < due ? wild : due, 1, shown);
    }
    mpi_drain(self);
    return 0;
}

int mpi_p2p_wait(struct mpi_rank *self, struct mpi_req *req)
{
    for (;;) {
        vtime due;

        mpi_drain(self);
        if (req->flags & MPI_REQ_DONE)
            break;
        if (!mpi_decide(self, VTIME_NEVER, &due))
            mpi_block_until(self, due, 1, req, mpi_req_is_done, req);
    }
    if (mpi_costs_are_for_receives())
        mpi_costs_wait(self, req);
    mpi_req_charge(self, req);
    if (__builtin_expect(req->error != MPI_SUCCESS, 0))
        mpi_misfit_note(self, req);
    return req->error;
}

#define COUNT_AHEAD HOSTILE(2u, 2048u) /* pending requests examined to count the arrivals needed */

/* The first pending request from *from on, which is advanced to it; *needed: arrivals without which
 * not all can be complete. */
static struct mpi_req *first_pending(const struct mpi_rank *self, struct mpi_req *reqs, uint32_t n,
                                     uint32_t *from, uint32_t *needed)
{
    uint32_t pending = 0;

    *needed = 0;
    while (*from < n && (reqs[*from].flags & MPI_REQ_DONE))
        ++*from;
    for (uint32_t i = *from; i < n && pending < COUNT_AHEAD && !mpi_wild_count(self); i++) {
        if (reqs[i].flags & MPI_REQ_DONE)
            continue;
        pending++;
        *needed += (reqs[i].flags & MPI_REQ_QUEUED) != 0;
    }
    if (*needed == 0)
        *needed = 1;
    return *from < n ? &reqs[*from] : NULL;
}

/* Takes the requests among them that cost something, first come first served. */
static void charge_all(struct mpi_rank *self, struct mpi_req *reqs, uint32_t n)
{
    struct mpi_charges charges = {0};

    for (uint32_t i = 0; i < n && mpi_receives_cost(); i++)
        mpi_charges_add(&charges, &reqs[i]);
    mpi_charges_settle(self, &charges);
}

static void watch_all(struct mpi_rank *self, const struct mpi_req *reqs, uint32_t n)
{
    struct net_overcommit_set set = {0};

    for (uint32_t i = 0; i < n; i++)
        mpi_p2p_watch_waited(self, &set, &reqs[i]);
    net_overcommit_judge(&mpi_world.net, mpi_rank_id(self), &set);
}

int mpi_p2p_waitall(struct mpi_rank *self, struct mpi_req *reqs, uint32_t n)
{
    int error = MPI_SUCCESS;
    uint32_t from = 0;

    for (;;) {
        struct mpi_req *pending;
        uint32_t needed;
        vtime due;

        mpi_drain(self);
        pending = first_pending(self, reqs, n, &from, &needed);
        if (!pending)
            break;
        if (mpi_decide(self, VTIME_NEVER, &due))
            continue;
        int asked = block(self, due, needed, pending, mpi_req_is_done, pending);
        for (; __builtin_expect(asked, 0); asked = self->ent.wake == ENGINE_WAKE_EXPLAIN) {
            mpi_explain_all(self, reqs, n);
            mpi_side_explained();
        }
    }
    if (mpi_p2p_watches(self))
        watch_all(self, reqs, n);
    charge_all(self, reqs, n);
    for (uint32_t i = 0; i < n; i++) {
        if (mpi_costs_are_for_receives())
            mpi_costs_wait(self, &reqs[i]);
        mpi_req_charge(self, &reqs[i]);
        if (__builtin_expect(reqs[i].error == MPI_SUCCESS || error != MPI_SUCCESS, 1))
            continue;
        error = reqs[i].error;
        mpi_misfit_note(self, &reqs[i]);
    }
    return error;
}
