/*
 * match.c - which message goes to which receive, and when.
 *
 * MPI-3.1 section 3.5: messages of one source on one communicator are matched in the order they
 * were sent, receives in the order they were posted.
 *
 *  - A receive from a named source takes the first fitting message of that source, whatever its
 *    time: this needs no order between ranks, and may be done as soon as the message is here.
 *  - A receive from any source is a *decision* that belongs to the posted receive. It is due at
 *    max(posted, earliest arrival of the first fitting message of each source), and is taken when
 *    the engine says that no message that arrives before can still come (mpi_decide). Equal times
 *    go to the smaller source.
 *  - A message that an undecided wildcard receive may take is kept from later receives until that
 *    decision.
 *
 * Decisions of one rank are taken in order of due time, ties in order of posting; so an earlier
 * posted receive is never passed over: it is due no later than a later one for the same message.
 */
#include <assert.h>
#include <string.h>

#include "mpi/p2p/p2p_internal.h"

static int fits(const struct mpi_req *r, const struct mpi_msg *m)
{
    return r->ctx == m->ctx && (r->peer == MPI_P2P_ANY || (uint32_t)r->peer == m->em.src) &&
           mpi_tag_fits(r->tag, m->tag);
}

/* First posted receive that m fits, or NULL. */
static struct mpi_req *first_posted(const struct mpi_rank *self, const struct mpi_msg *m)
{
    struct mpi_req *r = self->posted;

    if (!r)
        return NULL;
    do {
        r = r->next;
        if (fits(r, m))
            return r;
    } while (r != self->posted);
    return NULL;
}

static void posted_add(struct mpi_rank *self, struct mpi_req *req)
{
    if (self->posted) {
        req->next = self->posted->next;
        self->posted->next = req;
    } else {
        req->next = req;
    }
    self->posted = req;
    req->flags |= MPI_REQ_QUEUED;
    if (req->flags & MPI_REQ_WILD)
        self->ent.owner_bits++;
}

void mpi_unpost(struct mpi_rank *self, struct mpi_req *req)
{
    struct mpi_req *before = self->posted;

    while (before->next != req)
        before = before->next;
    if (before == req) {
        self->posted = NULL;
    } else {
        before->next = req->next;
        if (self->posted == req)
            self->posted = before;
    }
    req->flags &= (uint16_t)~MPI_REQ_QUEUED;
    if (req->flags & MPI_REQ_WILD) {
        req->flags &= (uint16_t)~MPI_REQ_WILD;
        self->ent.owner_bits--;
    }
}

/* Puts the payload where the receive wants it. */
static void deliver(struct mpi_req *req, const char *payload, uint64_t bytes)
{
    uint64_t room = req->count * req->type->size;

    if (bytes > room)
        bytes = room;
    if (bytes == 0)
        return;
    if (req->type->contig)
        memcpy(req->buf, payload, bytes);
    else
        mpi_type_unpack(req->type, req->count, req->buf, payload, bytes);
}

/* May the program still cancel the request before time t? */
static int is_revocable(const struct mpi_rank *self, const struct mpi_req *req, vtime t)
{
    return t > self->ent.clock && (req->flags & (MPI_REQ_HEAP | MPI_REQ_ORPHAN)) == MPI_REQ_HEAP;
}

/*
 * A large message is asked for at time t. If the program might cancel the receive before, that is a
 * decision due at t; programs that never call MPI_Cancel are spared it.
 */
static void answer_or_hold(struct mpi_rank *self, struct mpi_req *req, struct mpi_msg *rts, vtime t)
{
    struct mpi_ext *x;

    req->held = rts;
    req->complete = t;
    if (!mpi_world.may_cancel || !is_revocable(self, req, t)) {
        mpi_send_cts(self, req, t);
        return;
    }
    x = mpi_ext_get(self);
    req->flags |= MPI_REQ_UNANSWERED;
    req->next = x->unanswered;
    x->unanswered = req;
}

static void unanswered_remove(struct mpi_rank *self, struct mpi_req *req)
{
    struct mpi_req **at = &self->ext->unanswered;

    while (*at != req)
        at = &(*at)->next;
    *at = req->next;
    req->flags &= (uint16_t)~MPI_REQ_UNANSWERED;
}

void mpi_answer(struct mpi_rank *self, struct mpi_req *req)
{
    if (!(req->flags & MPI_REQ_UNANSWERED))
        return;
    unanswered_remove(self, req);
    mpi_send_cts(self, req, req->complete);
}

void mpi_match(struct mpi_rank *self, struct mpi_req *req, struct mpi_msg *m, vtime t)
{
    req->got_peer = (int32_t)m->em.src;
    req->got_tag = m->tag;
    req->bytes = m->bytes;
    req->error = m->bytes > req->count * req->type->size ? MPI_ERR_TRUNCATE : MPI_SUCCESS;
    if (m->em.arrival > t)
        t = m->em.arrival;
    if (m->kind == MPI_MSG_RTS) {
        answer_or_hold(self, req, m, t);
        return;
    }
    req->complete = vtime_add(t, mpi_world.recv_overhead);
    req->flags |= MPI_REQ_DONE;
    if (m->cookie)
        mpi_send_ack(self, m, t);
    if (is_revocable(self, req, t)) {
        req->held = m;
        return;
    }
    deliver(req, m->payload, m->bytes);
    engine_msg_free(&mpi_world.engine, &m->em);
}

void mpi_deliver_held(struct mpi_req *req)
{
    struct mpi_msg *m = req->held;

    if (!m)
        return;
    req->held = NULL;
    deliver(req, m->payload, m->bytes);
    engine_msg_free(&mpi_world.engine, &m->em);
}

void mpi_handle_data(struct mpi_rank *self, struct mpi_msg *m)
{
    struct mpi_req *req = (struct mpi_req *)(uintptr_t)m->cookie;

    deliver(req, m->payload, m->bytes);
    req->complete = vtime_add(m->em.arrival, mpi_world.recv_overhead);
    req->flags |= MPI_REQ_DONE;
    if (req->flags & MPI_REQ_ORPHAN)
        mpi_req_release(req);
    engine_msg_free(&mpi_world.engine, &m->em);
    (void)self;
}

static void arrive(struct mpi_rank *self, struct mpi_msg *m)
{
    struct mpi_req *req = first_posted(self, m);

    if (!req || (req->flags & MPI_REQ_WILD)) {
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
    switch ((enum mpi_msg_kind)m->kind) {
    case MPI_MSG_EAGER:
    case MPI_MSG_RTS: arrive(self, m); break;
    case MPI_MSG_CTS: mpi_handle_cts(self, m); break;
    case MPI_MSG_DATA: mpi_handle_data(self, m); break;
    case MPI_MSG_ACK: mpi_handle_ack(self, m); break;
    }
}

void mpi_drain(struct mpi_rank *self)
{
    struct engine_msg *em;

    while ((em = engine_poll(&self->ent)))
        mpi_handle(self, (struct mpi_msg *)em);
}

int mpi_wild_claims(const struct mpi_rank *self, const struct mpi_msg *m)
{
    struct mpi_req *r = mpi_wild_count(self) ? first_posted(self, m) : NULL;

    return r && (r->flags & MPI_REQ_WILD);
}

void mpi_post(struct mpi_rank *self, struct mpi_req *req)
{
    struct mpi_msg *m;

    mpi_drain(self);
    if (req->peer == MPI_P2P_ANY) {
        req->flags |= MPI_REQ_WILD;
        posted_add(self, req);
        return;
    }
    m = self->early_count ? mpi_early_find(self, req->ctx, (uint32_t)req->peer, req->tag) : NULL;
    if (!m || mpi_wild_claims(self, m)) {
        posted_add(self, req);
        return;
    }
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

/* The wildcard receive that is due first. */
static void choose(struct mpi_rank *self, struct choice *best)
{
    struct mpi_req *r = self->posted;

    if (!mpi_wild_count(self))
        return;
    do {
        struct mpi_msg *m;
        vtime due;

        r = r->next;
        if (!(r->flags & MPI_REQ_WILD))
            continue;
        m = mpi_early_find_any(self, r->ctx, r->tag);
        if (!m)
            continue;
        due = later(later(r->posted, m->em.arrival), mpi_ext_get(self)->decided);
        if (due < best->due)
            *best = (struct choice){r, m, due};
    } while (r != self->posted);
}

/* A message that had to wait for a wildcard decision may now have a named receive. */
static int retry(struct mpi_rank *self, struct mpi_msg *m, void *arg)
{
    struct mpi_req *req = first_posted(self, m);
    vtime decided = *(vtime *)arg;

    if (!req || (req->flags & MPI_REQ_WILD) ||
        mpi_early_find(self, req->ctx, (uint32_t)req->peer, req->tag) != m)
        return 0;
    mpi_early_take(self, m);
    mpi_unpost(self, req);
    mpi_match(self, req, m, later(req->posted, decided));
    return 1;
}

static int has_named(const struct mpi_rank *self)
{
    struct mpi_req *r = self->posted;

    if (!r)
        return 0;
    do {
        r = r->next;
        if (!(r->flags & MPI_REQ_WILD))
            return 1;
    } while (r != self->posted);
    return 0;
}

static void take(struct mpi_rank *self, const struct choice *c)
{
    vtime due = c->due;

    mpi_ext_get(self)->decided = due;
    engine_progress(&mpi_world.engine, due);
    mpi_early_take(self, c->msg);
    mpi_unpost(self, c->req);
    mpi_match(self, c->req, c->msg, due);
    if ((c->req->flags & (MPI_REQ_DONE | MPI_REQ_ORPHAN)) == (MPI_REQ_DONE | MPI_REQ_ORPHAN))
        mpi_req_release(c->req);
    while (has_named(self) && mpi_early_each(self, retry, &due))
        ;
}

/* The unanswered large message that is due before `best`. */
static void choose_answer(struct mpi_rank *self, struct choice *best)
{
    for (struct mpi_req *r = self->ext ? self->ext->unanswered : NULL; r; r = r->next)
        if (r->complete < best->due)
            *best = (struct choice){r, NULL, r->complete};
}

vtime mpi_decide(struct mpi_rank *self)
{
    while (mpi_wild_count(self) || (self->ext && self->ext->unanswered)) {
        struct choice c = {.due = VTIME_NEVER};

        choose(self, &c);
        choose_answer(self, &c);
        if (!c.req)
            return VTIME_NEVER;
        if (!engine_is_safe(&mpi_world.engine, mpi_rank_id(self), c.due))
            return c.due;
        if (c.msg)
            take(self, &c);
        else
            mpi_answer(self, c.req);
    }
    return VTIME_NEVER;
}

/* ---- taking a match back ---- */

void mpi_put_back(struct mpi_rank *self, struct mpi_req *req)
{
    struct mpi_msg *m = req->held;

    req->held = NULL;
    if (req->flags & MPI_REQ_UNANSWERED)
        unanswered_remove(self, req);
    else
        m->cookie = 0; /* a synchronous sender has had its answer */
    mpi_early_add_first(self, m);
}
