/*
 * bind.c - sources that are chosen outside, and inversions.
 *
 * Messages of one source never overtake each other, so for each kind of receive (context, tag) the
 * latest arrival so far is enough to find inversions: a message that arrives before it, and is from
 * another source, has been overtaken.
 */
#include "mpi/p2p/bind.h"

#include "base/array.h"
#include "mpi/p2p/posted.h"
#include "mpi/p2p/request.h"
#include "mpi/state.h"

struct latest {
    uint32_t ctx, src;
    int32_t tag; /* as the receive has it */
    vtime arrival;
};

/* A receive was given a message of one source here, and of another by the real MPI. */
struct exchange {
    uint32_t ctx;
    int32_t here, there;
};

/* Of a rank. */
struct bindings {
    int has_next, next; /* source of the next receive, as a rank of its communicator */
    uint32_t guessed;   /* receives whose source is not known yet */
    struct exchange *exchanges;
    uint32_t exchange_count, exchange_room;
    struct latest *kinds;
    uint32_t count, room;
};

static uint64_t inversions, guesses;

static struct bindings *own(struct mpi_rank *self)
{
    return mpi_state_make(self, MPI_STATE_bindings, sizeof(struct bindings));
}

void mpi_bind_begin(void)
{
    mpi_world.binds = 1;
    engine_let_late(&mpi_world.engine); /* the data of a message that is bound after it has come */
}

uint64_t mpi_bind_inversions(void)
{
    return inversions;
}

uint64_t mpi_bind_guesses(void)
{
    return guesses;
}

/* ---- exchanged messages ---- */

static void learn_guessed(struct bindings *b, struct exchange x)
{
    b->guessed -= b->guessed > 0;
    if (x.here == x.there)
        return;
    ARRAY_RESERVE(b->exchanges, b->exchange_room, b->exchange_count + 1, 4);
    b->exchanges[b->exchange_count++] = x;
}

/* The source whose message is left here for a receive that has got one of that source from the real
 * MPI. */
static int32_t take_exchange(struct bindings *b, uint32_t ctx, int32_t source)
{
    for (uint32_t i = 0; i < b->exchange_count;) {
        struct exchange x = b->exchanges[i];

        if (x.ctx != ctx || x.here != source) {
            i++;
            continue;
        }
        b->exchanges[i] = b->exchanges[--b->exchange_count];
        source = x.there;
        i = 0;
    }
    return source;
}

/* ---- choosing ---- */

void mpi_bind_next(struct mpi_rank *self, int source)
{
    struct bindings *b = own(self);

    b->has_next = 1;
    b->next = source;
}

int mpi_bind_take(struct mpi_rank *self, const struct mpi_comm *comm, int32_t *source)
{
    struct bindings *b = own(self);

    if (!b->has_next)
        return 0;
    b->has_next = 0;
    *source = take_exchange(b, comm->ctx, mpi_source_world(comm, b->next));
    return 1;
}

int mpi_bind_post(struct mpi_rank *self, struct mpi_req *req)
{
    if (mpi_bind_take(self, mpi_comm_get((MPI_Comm)req->comm), &req->peer)) {
        req->flags |= MPI_REQ_BOUND;
        return 1;
    }
    req->flags |= MPI_REQ_UNBOUND;
    return 0;
}

static void name(struct mpi_rank *self, struct mpi_req *req, int32_t peer)
{
    mpi_posted_name(self, req, peer);
    req->flags = (uint16_t)((req->flags & ~MPI_REQ_UNBOUND) | MPI_REQ_BOUND);
    mpi_retry(self, 0);
}

struct mpi_req *mpi_bind_receive(struct mpi_rank *self, struct mpi_req *req)
{
    struct mpi_req *r = self->posted;

    if (req->kind != MPI_REQ_PAIR || !r)
        return req;
    do {
        r = r->next;
        if ((r->flags & MPI_REQ_CHILD) && r->parent == req)
            return r;
    } while (r != self->posted);
    return req;
}

void mpi_bind(struct mpi_rank *self, struct mpi_req *req, int source)
{
    const struct mpi_comm *comm = mpi_comm_get((MPI_Comm)req->comm);
    struct bindings *b = own(self);
    int32_t peer;

    if (source == MPI_ANY_SOURCE) { /* of a persistent one */
        req->peer = MPI_P2P_ANY;
        req->flags &= (uint16_t)~MPI_REQ_BOUND;
        return;
    }
    peer = take_exchange(b, req->ctx, mpi_source_world(comm, source));
    if (req->flags & MPI_REQ_UNBOUND)
        name(self, req, peer);
    else if (req->flags & MPI_REQ_BOUND)
        learn_guessed(b, (struct exchange){req->ctx, req->peer, peer});
    else if (!(req->flags & MPI_REQ_QUEUED))
        req->peer = peer;
}

void mpi_bind_hold(struct mpi_req *req)
{
    req->flags |= MPI_REQ_UNBOUND;
}

/* ---- what may be taken ---- */

struct mpi_msg *mpi_bind_candidate(struct mpi_rank *self, const struct mpi_req *req)
{
    return mpi_early_find_any(self, req->ctx, req->tag, req);
}

static void look(struct mpi_rank *self, struct mpi_req *req, void *found)
{
    if ((req->flags & MPI_REQ_UNBOUND) && mpi_bind_candidate(self, req))
        *(int *)found = 1;
}

int mpi_bind_any_candidate(struct mpi_rank *self)
{
    int found = 0;

    if (mpi_wild_count(self) && self->early_count)
        mpi_posted_each_wild(self, look, &found);
    return found;
}

#define KINDS_MOST 8

/* What the unbound ones of some requests need, and which of it is here. */
struct demand {
    struct {
        uint32_t ctx;
        int32_t tag;
    } kinds[KINDS_MOST];
    uint32_t kind_count;
    uint32_t needed, here;
};

static void add_kind(struct demand *d, const struct mpi_req *r)
{
    d->needed++;
    for (uint32_t i = 0; i < d->kind_count; i++)
        if (d->kinds[i].ctx == r->ctx && d->kinds[i].tag == r->tag)
            return;
    if (d->kind_count < KINDS_MOST) {
        d->kinds[d->kind_count].ctx = r->ctx;
        d->kinds[d->kind_count].tag = r->tag;
    }
    d->kind_count++;
}

static int count_here(struct mpi_rank *self, struct mpi_msg *m, void *demand)
{
    struct demand *d = demand;

    (void)self;
    for (uint32_t i = 0; i < d->kind_count; i++)
        if (m->ctx == d->kinds[i].ctx && mpi_tag_fits(d->kinds[i].tag, m->tag))
            return ++d->here >= d->needed;
    return 0;
}

int mpi_bind_are_short(struct mpi_rank *self, int count, const MPI_Request *requests)
{
    struct demand d = {0};

    for (int i = 0; i < count; i++) {
        struct mpi_req *r = mpi_req_pending(self, requests[i]);

        r = r ? mpi_bind_receive(self, r) : NULL;
        if (r && (r->flags & MPI_REQ_UNBOUND))
            add_kind(&d, r);
    }
    if (d.kind_count > KINDS_MOST)
        return d.needed > self->early_count;
    mpi_early_each(self, count_here, &d);
    return d.here < d.needed;
}

int mpi_bind_is_sure(struct mpi_rank *self)
{
    const struct bindings *b = own(self);

    return !b->guessed && !b->exchange_count;
}

struct guess {
    struct mpi_req *req;
    const struct mpi_msg *msg;
};

/* Of several receives that may take the same message, the first gets it. */
static void find_first(struct mpi_rank *self, struct mpi_req *req, void *found)
{
    struct guess *best = found;
    const struct mpi_msg *m = req->flags & MPI_REQ_UNBOUND ? mpi_bind_candidate(self, req) : NULL;

    if (m && (!best->msg || m->em.arrival < best->msg->em.arrival ||
              (m == best->msg && req->order < best->req->order)))
        *best = (struct guess){req, m};
}

void mpi_bind_guess(struct mpi_rank *self)
{
    struct guess first = {0};

    mpi_posted_each_wild(self, find_first, &first);
    if (!first.req)
        return;
    guesses++;
    own(self)->guessed++;
    name(self, first.req, (int32_t)first.msg->em.src);
}

/* ---- inversions ---- */

static struct latest *find_kind(struct bindings *b, uint32_t ctx, int32_t tag)
{
    for (uint32_t i = 0; i < b->count; i++)
        if (b->kinds[i].ctx == ctx && b->kinds[i].tag == tag)
            return &b->kinds[i];
    ARRAY_RESERVE(b->kinds, b->room, b->count + 1, 4);
    b->kinds[b->count] = (struct latest){.ctx = ctx, .tag = tag, .arrival = -1};
    return &b->kinds[b->count++];
}

static int is_overtaken(const struct bindings *b, const struct mpi_msg *m)
{
    for (uint32_t i = 0; i < b->count; i++) {
        const struct latest *l = &b->kinds[i];

        if (l->ctx == m->ctx && mpi_tag_fits(l->tag, m->tag) && l->src != m->em.src &&
            l->arrival > m->em.arrival)
            return 1;
    }
    return 0;
}

void mpi_bind_seen(struct mpi_rank *self, uint32_t ctx, int32_t tag, const struct mpi_msg *m)
{
    struct bindings *b = own(self);
    struct latest *l;

    inversions += (uint64_t)is_overtaken(b, m);
    l = find_kind(b, ctx, tag);
    if (m->em.arrival <= l->arrival)
        return;
    l->arrival = m->em.arrival;
    l->src = m->em.src;
}
