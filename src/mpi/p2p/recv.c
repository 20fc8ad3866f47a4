/*
 * recv.c - receiving: requests, and the lean blocking receive.
 *
 * A blocking receive from a named source with no other receive posted needs no request: it looks
 * for its message in the early queue each time it is woken. Nearly every blocked rank of a large
 * run does this; its state is a few registers, so its stack stays small.
 *
 * What happens when a message meets its receive is in match.c.
 */
#include <string.h>

#include "base/hostile.h"
#include "mpi/p2p/p2p_internal.h"
#include "mpi/p2p/service.h"
#include "mpi/p2p/strand.h"
#include "mpi/side.h"

void mpi_p2p_irecv(struct mpi_rank *self, struct mpi_req *req, void *buf, uint64_t count,
                   struct mpi_type *type, int32_t src, int tag, uint32_t ctx, MPI_Comm comm)
{
    assert_hot(!(req->flags & MPI_REQ_QUEUED) && (src == MPI_P2P_ANY || src >= 0));
    req->kind = MPI_REQ_RECV;
    req->flags &= MPI_REQ_HEAP | MPI_REQ_PERSISTENT | MPI_REQ_ACTIVE | MPI_REQ_CHILD;
    req->buf = buf;
    req->count = count;
    req->type = type;
    req->peer = src;
    req->tag = tag;
    req->ctx = ctx;
    req->comm = (uint32_t)comm;
    req->error = MPI_SUCCESS;
    req->posted = self->ent.clock;
    if (mpi_costs_are_for_receives())
        mpi_costs_post(self, req);
    mpi_post(self, req);
}

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

vtime mpi_wait_end(struct mpi_rank *self, mpi_holds *holds, const void *arg)
{
    const struct wanted *w = arg;
    const struct mpi_req *req = arg;
    const struct mpi_msg *m;

    if (holds == mpi_req_is_done)
        return req->flags & MPI_REQ_DONE ? req->complete : VTIME_NEVER;
    if (holds != is_here)
        return 0;
    m = self->early_count ? mpi_early_find(self, w->ctx, w->src, w->tag) : NULL;
    return m ? m->em.arrival : VTIME_NEVER;
}

/* A separate function, so that its variables take no stack in ranks without threads. */
__attribute__((noinline)) static void suspend_thread(struct mpi_rank *self, vtime due, uint32_t ctx,
                                                     uint32_t src, int32_t tag)
{
    struct wanted w = {ctx, src, tag};

    mpi_suspend(self, due, 1, is_here, &w);
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
            mpi_suspend(self, due, mpi_has_strands(self) ? 1 : ENGINE_FROM | src, NULL, NULL);
        while (__builtin_expect(self->ent.wake == ENGINE_WAKE_EXPLAIN, 0)) {
            mpi_explain_recv(self, (int32_t)src, tag, ctx, comm);
            mpi_side_explained();
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
    if (mpi_receives_cost())
        mpi_charge_receive(self, m->em.arrival > self->ent.clock ? m->em.arrival : self->ent.clock,
                           mpi_recv_cost(m));
    else
        mpi_clock_reach(self, m->em.arrival);
    if (status != MPI_STATUS_IGNORE)
        fill_status(status, c, m);
    mpi_received(self, m, NULL, self->ent.clock);
    return MPI_SUCCESS;
}
