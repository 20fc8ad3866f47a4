/*
 * wait.c - blocking, and the lean blocking receive.
 *
 * A rank that blocks first drains its inbox, takes the decisions that are safe, and suspends with
 * the time at which its next decision is due. It is woken by arrivals or when the decision is safe,
 * and checks everything again.
 *
 * A blocking receive from a named source with no other receive posted needs no request: it looks
 * for its message in the early queue each time it is woken. Nearly every blocked rank of a large
 * run does this; its state is a few registers, so its stack stays small.
 *
 * In a strand (strand.h) blocking suspends the strand, and requests are in the pool.
 */
#include <string.h>

#include "mpi/p2p/bind.h"
#include "mpi/p2p/service.h"
#include "mpi/p2p/strand.h"
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
    engine_unbusy(&mpi_world.engine, &self->ent);
    if (self->ent.wake == ENGINE_WAKE_LOOK)
        mpi_bind_guess(self);
}

static void suspend(struct mpi_rank *self, vtime due, uint32_t wake_after, mpi_holds *holds,
                    const void *arg)
{
    if (__builtin_expect(vp_private.threaded, 0)) {
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
    suspend(self, due, mpi_has_strands(self) ? 1 : wake_after, holds, arg);
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
        vp_suspend();
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
    mpi_clock_reach(self, req->complete);
    if (__builtin_expect(req->error != MPI_SUCCESS, 0))
        mpi_misfit_note(self, req);
    return req->error;
}

#define COUNT_AHEAD 2048 /* pending requests examined to count the arrivals needed */

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
            vp_suspend();
        }
    }
    for (uint32_t i = 0; i < n; i++) {
        if (mpi_costs_are_for_receives())
            mpi_costs_wait(self, &reqs[i]);
        mpi_clock_reach(self, reqs[i].complete);
        if (__builtin_expect(reqs[i].error == MPI_SUCCESS || error != MPI_SUCCESS, 1))
            continue;
        error = reqs[i].error;
        mpi_misfit_note(self, &reqs[i]);
    }
    return error;
}

/* ---- the lean receive ---- */

static int is_wanted(const struct mpi_msg *m, uint32_t ctx, uint32_t src, int32_t tag)
{
    return m->em.src == src && m->ctx == ctx && mpi_tag_fits(tag, m->tag) &&
           m->kind <= MPI_MSG_FREE;
}

/* The next message from src, if it is here. No receive is posted. */
static struct mpi_msg *next_from(struct mpi_rank *self, uint32_t ctx, uint32_t src, int32_t tag)
{
    struct mpi_msg *m;

    if (self->early_count && (m = mpi_early_find(self, ctx, src, tag))) {
        mpi_early_take(self, m);
        return m;
    }
    do {
        while ((m = (struct mpi_msg *)engine_poll(&self->ent))) {
            if (is_wanted(m, ctx, src, tag))
                return m;
            mpi_handle(self, m);
        }
    } while (mpi_has_strands(self) && mpi_strands_run(self));
    return NULL;
}

/* Serves what is due for others; returns when the next message is due. */
__attribute__((noinline)) static vtime serve(struct mpi_rank *self)
{
    vtime due;

    while (mpi_decide(self, VTIME_NEVER, &due))
        ;
    return due;
}

struct wanted {
    uint32_t ctx, src;
    int32_t tag;
};

static int is_here(struct mpi_rank *self, const void *wanted)
{
    const struct wanted *w = wanted;

    return self->early_count && mpi_early_find(self, w->ctx, w->src, w->tag) != NULL;
}

/* A separate function, so that its variables take no stack in ranks without threads. */
__attribute__((noinline)) static void suspend_thread(struct mpi_rank *self, vtime due, uint32_t ctx,
                                                     uint32_t src, int32_t tag)
{
    struct wanted w = {ctx, src, tag};

    suspend(self, due, 1, is_here, &w);
}

/* Blocks until a message from src is here, and takes it. Few live variables. */
static struct mpi_msg *await(struct mpi_rank *self, uint32_t ctx, uint32_t src, int32_t tag,
                             MPI_Comm comm)
{
    struct mpi_msg *m;

    while (!(m = next_from(self, ctx, src, tag))) {
        vtime due = __builtin_expect(mpi_has_services(self), 0) ? serve(self) : VTIME_NEVER;

        if (self->ent.inbox)
            continue;
        if (__builtin_expect(vp_private.threaded, 0))
            suspend_thread(self, due, ctx, src, tag);
        else
            suspend(self, due, 1, NULL, NULL);
        while (__builtin_expect(self->ent.wake == ENGINE_WAKE_EXPLAIN, 0)) {
            mpi_explain_recv(self, (int32_t)src, tag, ctx, comm);
            vp_suspend();
        }
    }
    return m;
}

__attribute__((noinline)) static void fill_status(MPI_Status *status, struct mpi_comm *c,
                                                  const struct mpi_msg *m)
{
    struct mpi_req r = {.kind = MPI_REQ_RECV,
                        .got_peer = (int32_t)m->em.src,
                        .got_tag = m->tag,
                        .bytes = m->bytes,
                        .comm = (uint32_t)c->handle};

    mpi_status_set(status, &r);
}

/* May a message that is shorter than its buffer be received without further checks? */
static inline int may_be_short(const struct mpi_msg *m, uint64_t room)
{
    return m->bytes < room && !mpi_ctx_is_coll(m->ctx);
}

/* Anything but "an eager message that fits into a contiguous buffer". */
__attribute__((noinline)) static int finish_slow(struct mpi_rank *self, struct mpi_msg *m,
                                                 void *buf, uint64_t count, struct mpi_type *type,
                                                 struct mpi_comm *c, MPI_Status *status)
{
    struct mpi_req req = {.kind = MPI_REQ_RECV,
                          .buf = buf,
                          .count = count,
                          .type = type,
                          .comm = (uint32_t)c->handle,
                          .posted = self->ent.clock,
                          .peer = (int32_t)m->em.src,
                          .tag = m->tag,
                          .ctx = m->ctx};
    int error;

    if (mpi_costs_are_for_receives())
        mpi_costs_post(self, &req);
    mpi_match(self, &req, m, req.posted);
    error = mpi_p2p_wait(self, &req);
    if (status != MPI_STATUS_IGNORE)
        mpi_status_set(status, &req);
    return error;
}

__attribute__((noinline)) static int recv_posted(struct mpi_rank *self, void *buf, uint64_t count,
                                                 struct mpi_type *type, int32_t src, int tag,
                                                 uint32_t ctx, struct mpi_comm *c,
                                                 MPI_Status *status)
{
    struct mpi_req here = {0}, *kept = mpi_strand_reqs(1), *req = kept ? kept : &here;
    int error;

    mpi_p2p_irecv(self, req, buf, count, type, src, tag, ctx, c->handle);
    error = mpi_p2p_wait(self, req);
    if (status != MPI_STATUS_IGNORE)
        mpi_status_set(status, req);
    if (kept)
        mpi_strand_reqs_free(kept, 1);
    return error;
}

int mpi_p2p_recv(struct mpi_rank *self, void *buf, uint64_t count, struct mpi_type *type,
                 int32_t src, int tag, uint32_t ctx, struct mpi_comm *c, MPI_Status *status)
{
    struct mpi_msg *m;

    if (src == MPI_P2P_ANY || self->posted || mpi_strand_current)
        return recv_posted(self, buf, count, type, src, tag, ctx, c, status);
    m = await(self, ctx, (uint32_t)src, tag, c->handle);
    if (m->kind > MPI_MSG_HOLLOW || m->cookie || !type->contig || mpi_costs_are_for_receives() ||
        (m->bytes != count * type->size && !may_be_short(m, count * type->size)))
        return finish_slow(self, m, buf, count, type, c, status);
    if (m->bytes && m->kind == MPI_MSG_EAGER && !mpi_is_hollow(buf))
        memcpy(buf, m->payload, m->bytes);
    mpi_clock_reach(self, m->em.arrival);
    mpi_clock_add(self, mpi_recv_cost(m));
    if (status != MPI_STATUS_IGNORE)
        fill_status(status, c, m);
    mpi_received(self, m, NULL, self->ent.clock);
    return MPI_SUCCESS;
}

__attribute__((noinline)) static int send_slow(struct mpi_rank *self, const void *buf,
                                               uint64_t count, struct mpi_type *type, uint32_t dst,
                                               int tag, uint32_t ctx, MPI_Comm comm,
                                               enum mpi_send_mode mode)
{
    struct mpi_req here = {0}, *kept = mpi_strand_reqs(1), *req = kept ? kept : &here;
    int error;

    mpi_p2p_isend(self, req, buf, count, type, dst, tag, ctx, comm, mode);
    error = mpi_p2p_wait(self, req);
    if (kept)
        mpi_strand_reqs_free(kept, 1);
    return error;
}

int mpi_p2p_send(struct mpi_rank *self, const void *buf, uint64_t count, struct mpi_type *type,
                 uint32_t dst, int tag, uint32_t ctx, MPI_Comm comm, enum mpi_send_mode mode)
{
    if (mpi_p2p_try_send(self, buf, count, type, dst, tag, ctx, mode))
        return MPI_SUCCESS;
    return send_slow(self, buf, count, type, dst, tag, ctx, comm, mode);
}
