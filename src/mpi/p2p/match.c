/*
 * match.c - matches messages with receives.
 *
 * MPI-3.1 section 3.5: messages of one source on one communicator are matched in the order they
 * were sent, receives in the order they were posted.
 *
 *  - A receive from a named source takes the first matching message of that source, whatever its
 *    time: this needs no order between ranks, and may be done as soon as the message has arrived.
 *  - A receive from any source is a *decision* that belongs to the posted receive. It is due at
 *    max(posted, earliest arrival of the first matching message of each source), and is taken when
 *    the engine says that no earlier message can still come (mpi_decide). Ties go to the smaller
 *    source.
 *  - In a program that calls MPI_Cancel every non-blocking receive is such a decision, since it may
 *    be cancelled before its message comes.
 *  - A message that an undecided receive may take is withheld from later receives until that
 *    decision.
 *
 * Decisions of one rank are taken in order of due time, ties in order of posting; so an earlier
 * posted receive is never overtaken: it is due no later than a later one for the same message.
 */
#include <assert.h>
#include <string.h>

#include "base/hostile.h"
#include "base/log_module.h"
#include "mpi/p2p/bind.h"
#include "mpi/p2p/posted.h"
#include "mpi/p2p/service.h"
#include "mpi/p2p/strand.h"
#include "mpi/p2p/tags.h"
#include "mpi/verify.h"

/* Logs something about a message. */
static inline void say(const struct mpi_rank *self, const struct mpi_msg *m, vtime t,
                       const char *what)
{
    LOG_LINE(MPI, DEBUG, mpi_rank_id(self), t,
             "a message of %llu bytes from rank %u, tag %d, context %u %s",
             (unsigned long long)m->bytes, m->em.src, m->tag, m->ctx, what);
}

/* Copies the payload to the buffer of the receive. */
static void deliver(struct mpi_req *req, const char *payload, uint64_t bytes)
{
    uint64_t room = req->count * req->type->size;

    if (bytes > room)
        bytes = room;
    if (bytes == 0 || mpi_is_hollow(req->buf))
        return;
    if (req->type->contig)
        memcpy(req->buf, payload, bytes);
    else
        mpi_type_unpack(req->type, req->count, req->buf, payload, bytes);
}

/* A message that does not fill the buffer may end between two elements, but not within one of a
 * non-contiguous type, and a broadcast must not be short: as in MPICH. */
__attribute__((noinline)) static int misfit(const struct mpi_req *req, const struct mpi_msg *m,
                                            uint64_t room)
{
    if (m->bytes > room ||
        (!req->type->contig && mpi_type_whole_bytes(req->type, m->bytes) != m->bytes))
        return MPI_ERR_TRUNCATE;
    return mpi_ctx_is_coll(m->ctx) && mpi_coll_tag_is_bcast(m->tag) ? MPI_ERR_OTHER : MPI_SUCCESS;
}

/* The payload of `carried` bytes is here: completes the receive. Whoever waits for it will be
 * charged `cost`. */
static inline void finish(struct mpi_rank *self, struct mpi_req *req, struct mpi_msg *m,
                          uint64_t carried, vtime complete, vtime cost)
{
    assert_hot(!(req->flags & (MPI_REQ_DONE | MPI_REQ_QUEUED)) && complete >= m->em.arrival);
    req->complete = complete;
    req->flags |= MPI_REQ_DONE;
    if (cost) {
        req->cost = cost;
        req->flags |= MPI_REQ_COSTS;
    }
    deliver(req, m->payload, carried);
    mpi_received(self, m, req, vtime_add(complete, cost));
}

/* `finish` for a message that came with its payload; acknowledges a synchronous send at time t. */
static inline void finish_eager(struct mpi_rank *self, struct mpi_req *req, struct mpi_msg *m,
                                uint64_t carried, vtime t, vtime cost)
{
    if (m->cookie)
        mpi_send_ack(self, m, t);
    finish(self, req, m, carried, t, cost);
}

/* A message that is not eager, or is checked; `more` is its cost in addition to the overhead. */
__attribute__((noinline)) static void match_other(struct mpi_rank *self, struct mpi_req *req,
                                                  struct mpi_msg *m, vtime t, vtime more)
{
    if (m->is_signed)
        mpi_verify_match(self, req, m);
    if (m->kind == MPI_MSG_RTS) {
        mpi_send_cts(self, req, m, vtime_add(t, more));
        engine_msg_free(&mpi_world.engine, &m->em);
    } else {
        finish_eager(self, req, m, mpi_msg_carried(m), t,
                     m->kind == MPI_MSG_FREE ? 0 : vtime_add(mpi_recv_cost(m), more));
    }
}

void mpi_match(struct mpi_rank *self, struct mpi_req *req, struct mpi_msg *m, vtime t)
{
    uint64_t room = req->count * req->type->size;
    vtime more = mpi_costs_are_for_receives() && m->kind != MPI_MSG_FREE ? mpi_costs_take(req, m)
                                                                         : 0;

    assert_hot(req->ctx == m->ctx && mpi_tag_fits(req->tag, m->tag));
    assert_hot(req->peer == MPI_P2P_ANY || (uint32_t)req->peer == m->em.src);
    assert_hot(t >= req->posted); /* nothing is received before it is posted */
    req->got_peer = (int32_t)m->em.src;
    req->got_tag = m->tag;
    req->bytes = m->bytes;
    req->error = m->bytes == room ? MPI_SUCCESS : (int16_t)misfit(req, m, room);
    if (m->em.arrival > t)
        t = m->em.arrival;
    say(self, m, t, "is matched");
    if (__builtin_expect(m->kind > MPI_MSG_HOLLOW, 0))
        match_other(self, req, m, t, more);
    else
        finish_eager(self, req, m, m->kind == MPI_MSG_EAGER ? m->bytes : 0, t,
                     vtime_add(mpi_recv_cost(m), more));
}

static void handle_data(struct mpi_rank *self, struct mpi_msg *m)
{
    struct mpi_req *req = (struct mpi_req *)(uintptr_t)m->cookie;

    assert_hot(req->kind == MPI_REQ_RECV && !(req->flags & MPI_REQ_QUEUED));
    assert_hot(!(req->flags & MPI_REQ_HEAP) || req->owner == mpi_rank_index(self));
    finish(self, req, m, mpi_msg_carried(m), m->em.arrival, mpi_recv_cost(m));
    if (req->flags & MPI_REQ_ORPHAN)
        mpi_req_release(req);
}

/* Does a named receive match an earlier message that a wildcard receive before it may take? */
static int must_wait(struct mpi_rank *self, const struct mpi_req *req)
{
    return mpi_wild_count(self) && self->early_count &&
           mpi_early_find(self, req->ctx, (uint32_t)req->peer, req->tag) != NULL;
}

/* Whether the receive has to wait although m matches it: its match is a decision, or an undecided
 * receive has a claim to an earlier message. */
__attribute__((noinline)) static int waits(struct mpi_rank *self, const struct mpi_req *req,
                                           const struct mpi_msg *m)
{
    if ((req->flags & MPI_REQ_WILD) || must_wait(self, req))
        return 1;
    mpi_bind_seen(self, req->ctx, req->tag, m);
    return 0;
}

static void arrive(struct mpi_rank *self, struct mpi_msg *m)
{
    struct mpi_req *req = mpi_posted_first(self, m);

    if (!req || ((req->flags & (MPI_REQ_WILD | MPI_REQ_BOUND)) && waits(self, req, m)) ||
        must_wait(self, req)) {
        say(self, m, m->em.arrival, "waits for a receive");
        mpi_early_add(self, m);
        return;
    }
    mpi_unpost(self, req);
    mpi_match(self, req, m, req->posted);
    if ((req->flags & (MPI_REQ_DONE | MPI_REQ_ORPHAN)) == (MPI_REQ_DONE | MPI_REQ_ORPHAN))
        mpi_req_release(req);
}

void mpi_handle(struct mpi_rank *self, struct mpi_msg *m)
{
    assert_hot(self == mpi_self() && m->em.dst == mpi_rank_id(self));
    mpi_world.handled++;
    switch ((enum mpi_msg_kind)m->kind) {
    case MPI_MSG_EAGER:
    case MPI_MSG_HOLLOW:
    case MPI_MSG_SIGNED:
    case MPI_MSG_FREE:
    case MPI_MSG_RTS:
        arrive(self, m);
        break;
    case MPI_MSG_CTS:
        mpi_handle_cts(self, m);
        break;
    case MPI_MSG_DATA:
        handle_data(self, m);
        break;
    case MPI_MSG_ACK:
        mpi_handle_ack(self, m);
        break;
    case MPI_MSG_SENT:
        mpi_handle_sent(self, m);
        break;
    case MPI_MSG_SERVICE:
        mpi_service_arrive(self, m);
        break;
    case MPI_MSG_REPLY:
        mpi_service_replied(self, m);
        break;
    }
}

void mpi_drain(struct mpi_rank *self)
{
    struct engine_msg *em;

    do {
        while ((em = engine_poll(&self->ent)))
            mpi_handle(self, (struct mpi_msg *)em);
    } while (mpi_has_strands(self) && mpi_strands_run(self));
}

const struct mpi_req *mpi_claimer(struct mpi_rank *self, const struct mpi_msg *m)
{
    return mpi_wild_count(self) ? mpi_posted_first(self, m) : NULL;
}

/* Whether a message comes before the program cancels the receive depends on time, too. Programs
 * that never call MPI_Cancel do not pay for it. */
static int may_be_cancelled(const struct mpi_req *req)
{
    return mpi_world.may_cancel && (req->flags & MPI_REQ_HEAP);
}

void mpi_post(struct mpi_rank *self, struct mpi_req *req)
{
    struct mpi_msg *m;

    mpi_drain(self);
    if ((req->peer == MPI_P2P_ANY && !(mpi_world.binds && mpi_bind_post(self, req))) ||
        may_be_cancelled(req)) {
        req->flags |= MPI_REQ_WILD;
        mpi_posted_add(self, req);
        return;
    }
    m = self->early_count ? mpi_early_find(self, req->ctx, (uint32_t)req->peer, req->tag) : NULL;
    if (!m || mpi_claimer(self, m)) {
        mpi_posted_add(self, req);
        return;
    }
    if (__builtin_expect(req->flags & MPI_REQ_BOUND, 0))
        mpi_bind_seen(self, req->ctx, req->tag, m);
    mpi_early_take(self, m);
    mpi_match(self, req, m, req->posted);
}

/* ---- decisions ---- */

struct choice {
    struct mpi_req *req;
    struct mpi_msg *msg;
    vtime due;
};

static vtime later(vtime a, vtime b)
{
    return a > b ? a : b;
}

/* The message that an undecided receive would take if no other came. */
static struct mpi_msg *candidate(struct mpi_rank *self, const struct mpi_req *r)
{
    struct mpi_msg *m;

    if (r->flags & MPI_REQ_UNBOUND)
        return NULL;
    if (r->peer == MPI_P2P_ANY)
        return mpi_early_find_any(self, r->ctx, r->tag, r);
    m = mpi_early_find(self, r->ctx, (uint32_t)r->peer, r->tag);
    return m && mpi_claimer(self, m) == r ? m : NULL;
}

/* Is r due before what was found so far? Ties go to the receive posted first. */
static void consider(struct mpi_rank *self, struct mpi_req *r, void *arg)
{
    struct choice *best = arg;
    struct mpi_msg *m = candidate(self, r);
    vtime due;

    if (!m)
        return;
    due = later(later(r->posted, m->em.arrival), mpi_ext_get(self)->decided);
    if (due < best->due || (due == best->due && best->req && r->order < best->req->order))
        *best = (struct choice){r, m, due};
}

/* A message that had to wait for a wildcard decision may now go to a named receive. */
static int retry(struct mpi_rank *self, struct mpi_msg *m, void *arg)
{
    struct mpi_req *req = mpi_posted_first(self, m);
    vtime decided = *(vtime *)arg;

    if (!req || (req->flags & MPI_REQ_WILD) ||
        mpi_early_find(self, req->ctx, (uint32_t)req->peer, req->tag) != m)
        return 0;
    if (req->flags & MPI_REQ_BOUND)
        mpi_bind_seen(self, req->ctx, req->tag, m);
    mpi_early_take(self, m);
    mpi_unpost(self, req);
    mpi_match(self, req, m, later(req->posted, decided));
    if ((req->flags & (MPI_REQ_DONE | MPI_REQ_ORPHAN)) == (MPI_REQ_DONE | MPI_REQ_ORPHAN))
        mpi_req_release(req);
    return 1;
}

void mpi_retry(struct mpi_rank *self, vtime t)
{
    while (mpi_posted_named(self) && mpi_early_each(self, retry, &t))
        ;
}

static void take(struct mpi_rank *self, const struct choice *c)
{
    vtime due = c->due;

    /* decisions of a rank are taken in order of due time */
    assert_hot(due >= mpi_ext_get(self)->decided && due >= c->req->posted);
    assert_hot((c->req->flags & MPI_REQ_WILD) && due >= c->msg->em.arrival);
    say(self, c->msg, due, "is chosen by a decision");
    mpi_ext_get(self)->decided = due;
    engine_progress(&mpi_world.engine, due);
    mpi_early_take(self, c->msg);
    mpi_unpost(self, c->req);
    mpi_match(self, c->req, c->msg, due);
    if ((c->req->flags & (MPI_REQ_DONE | MPI_REQ_ORPHAN)) == (MPI_REQ_DONE | MPI_REQ_ORPHAN))
        mpi_req_release(c->req);
    mpi_retry(self, due);
}

/* Of a receive and a service due at the same time, the service comes first. */
int mpi_decide(struct mpi_rank *self, vtime limit, vtime *due)
{
    struct choice c = {.due = VTIME_NEVER};
    vtime service = mpi_service_due(self);

    *due = service;
    if (!mpi_wild_count(self) && service == VTIME_NEVER)
        return 0;
    if (mpi_strand_current) { /* decisions belong to the rank, at its own time */
        *due = VTIME_NEVER;
        return 0;
    }
    if (mpi_wild_count(self))
        mpi_posted_each_wild(self, consider, &c);
    if (c.due < service)
        *due = c.due;
    if (*due == VTIME_NEVER || *due > limit ||
        !engine_is_safe(&mpi_world.engine, mpi_rank_index(self), *due))
        return 0;
    mpi_world.handled++;
    if (c.due < service) {
        take(self, &c);
        return 1;
    }
    engine_progress(&mpi_world.engine, service);
    mpi_service_next(self);
    return 1;
}
