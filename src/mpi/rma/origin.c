/*
 * origin.c - the calling side: sends operations, handles their answers, waits for them.
 *
 * An operation leaves at the rank's clock, after the sender's overhead. Data is copied at the call,
 * so the buffer is free when the device has taken it; above the eager limit, when it has left.
 * Nothing here depends on what the target is doing.
 *
 * Records of targets live from the first operation to the next synchronisation that waits for all
 * of them: a rank has one per target in use, not one per rank.
 */
#include <assert.h>
#include <string.h>

#include "base/buf.h"
#include "base/hostile.h"
#include "mpi/rma/rma_internal.h"
#include "mpi/stats.h"

/* The most that a rank may have in flight on a window, so that a program that never synchronises
 * does not fill the memory; and what an operation counts in addition to its data. */
#define IN_FLIGHT ((uint64_t)32 << 20)
#define PER_MESSAGE 256

/* The destination of the data of an answer. */
struct fetch {
    struct rma_peer *peer;
    void *buf;
    uint64_t count;
    struct mpi_type *type; /* with a ref */
    struct mpi_req *req;   /* or NULL */
};

/* An operation whose buffer the program may not use yet. */
struct held {
    struct rma_peer *peer;
    struct mpi_req *req; /* that is complete then, or NULL */
};

/* ---- targets ---- */

struct rma_peer *rma_peer_get(struct rma_win *w, uint32_t world)
{
    int is_new;
    uint64_t *at = map_insert(&w->by_world, world, &is_new);
    struct rma_peer *p;

    if (!is_new)
        return (struct rma_peer *)(uintptr_t)*at;
    p = pool_alloc(&mpi_world.pool, sizeof *p);
    *at = (uint64_t)(uintptr_t)p;
    *p = (struct rma_peer){.win = w, .world = world, .rank = mpi_comm_rank_of(w->comm, world)};
    if (w->end)
        w->end->next = p;
    else
        w->first = p;
    w->end = p;
    return p;
}

struct rma_peer *rma_peer_find(const struct rma_win *w, int rank)
{
    uint64_t *at = map_find(&w->by_world, mpi_comm_world_rank(w->comm, (uint32_t)rank));

    return at ? (struct rma_peer *)(uintptr_t)*at : NULL;
}

static int is_idle(const struct rma_peer *p)
{
    return !p->pending && !p->unsent && !p->unposted && !p->lock;
}

static void discard(struct rma_win *w, struct rma_peer *p)
{
    assert(p->win == w && p->fetching == 0);
    map_remove(&w->by_world, p->world);
    pool_free(&mpi_world.pool, p, sizeof *p);
}

void rma_peers_trim(struct rma_win *w)
{
    struct rma_peer **at = &w->first, *p;

    w->end = NULL;
    while ((p = *at)) {
        if (is_idle(p)) {
            *at = p->next;
            discard(w, p);
        } else {
            w->end = p;
            at = &p->next;
        }
    }
}

void rma_peer_drop(struct rma_win *w, struct rma_peer *gone)
{
    struct rma_peer *before = NULL;

    assert(gone->win == w);
    if (!is_idle(gone))
        return;
    for (struct rma_peer *p = w->first; p != gone; p = p->next)
        before = p;
    if (before)
        before->next = gone->next;
    else
        w->first = gone->next;
    if (w->end == gone)
        w->end = before;
    discard(w, gone);
}

/* ---- sending ---- */

static void expect_answer(struct rma_peer *p)
{
    p->pending++;
    p->win->pending++;
}

/* Returns when the sender may continue; `held`, if not NULL, says what it waits for. */
static vtime post_message(struct mpi_rank *self, struct rma_peer *p, struct mpi_msg *m,
                          uint64_t bytes, const struct held *held)
{
    struct device_send how = {.bytes = bytes, .not_before = p->last};
    struct device_sent sent;

    m->ctx = p->win->comm->ctx;
    mpi_clock_add(self, mpi_send_cost(self, p->world, bytes));
    how.t = self->ent.clock;
    how.cookie = held ? mpi_service_cookie(MPI_SERVICE_RMA, held) : 0;
    how.until = bytes > mpi_world.eager_limit ? DEVICE_LEFT : DEVICE_TAKEN;
    sent = mpi_service_send(m, how);
    assert_hot(sent.done == DEVICE_BY_NOTICE ? held != NULL : sent.done >= how.t);
    p->last = sent.arrival;
    return sent.done;
}

void rma_tell(struct mpi_rank *self, struct rma_peer *p, enum rma_kind kind, int detail)
{
    struct mpi_msg *m = mpi_service_new(self, p->world, MPI_SERVICE_RMA, 0);

    m->tag = kind;
    m->bytes = (uint64_t)detail;
    m->cookie = (uintptr_t)p;
    if (kind != RMA_COMPLETE)
        expect_answer(p);
    post_message(self, p, m, 0, NULL);
}

static int brings_data(enum rma_kind kind)
{
    return kind == RMA_GET || kind == RMA_GET_ACCUMULATE || kind == RMA_COMPARE_SWAP;
}

static uint64_t expect_data(struct rma_peer *p, const struct rma_access *a)
{
    struct fetch *f = pool_alloc(&mpi_world.pool, sizeof *f);

    *f = (struct fetch){p, a->in, a->in_count, a->in_type, a->req};
    mpi_type_ref(a->in_type);
    p->fetching++;
    p->win->fetching++;
    return (uintptr_t)f;
}

/* Buffers of an operation that are hollow (hollow.h): enum rma_lacks. */
static uint32_t lacking(const struct rma_access *a)
{
    uint32_t lacks = 0;

    if (a->out_type &&
        (mpi_data_is_hollow(a->out, a->out_type) || mpi_data_is_hollow(a->compare, a->out_type)))
        lacks |= RMA_LACKS_DATA;
    if (a->in_type && mpi_data_is_hollow(a->in, a->in_type))
        lacks |= RMA_LACKS_RESULT;
    return lacks;
}

/* The message with head, the type's image if it needs one, and the data. */
static struct mpi_msg *new_message(struct mpi_rank *self, const struct rma_peer *p,
                                   const struct rma_access *a, uint64_t bytes)
{
    struct rma_head head = {.disp = a->disp,
                            .count = a->count,
                            .bytes = bytes,
                            .op = a->op,
                            .lacks = lacking(a)};
    int carries = bytes && !(head.lacks & RMA_LACKS_DATA);
    struct mpi_msg *m;
    struct buf image;
    char *at;

    buf_init(&image);
    if (a->type->builtin) {
        head.handle = a->type->handle;
    } else if (rma_type_needs_image(a->type, p->world)) {
        rma_type_encode(a->type, &image);
        head.image = (uint32_t)image.len;
    } else {
        head.type = a->type;
        mpi_type_ref(a->type);
    }
    m = mpi_service_new(self, p->world, MPI_SERVICE_RMA,
                        sizeof head + image.len + (carries ? bytes : 0));
    m->tag = a->kind;
    memcpy(m->payload, &head, sizeof head);
    at = m->payload + sizeof head;
    if (image.len)
        memcpy(at, image.data, image.len);
    if (carries)
        at += image.len + mpi_type_pack(a->out_type, a->out_count, a->out, at + image.len);
    if (carries && a->kind == RMA_COMPARE_SWAP)
        memcpy(at, a->compare, a->out_type->size);
    buf_fini(&image);
    return m;
}

static uint64_t data_bytes(const struct rma_access *a)
{
    if (a->kind == RMA_GET || a->op == MPI_NO_OP)
        return 0;
    return a->out_count * a->out_type->size * (a->kind == RMA_COMPARE_SWAP ? 2 : 1);
}

static void reach(vtime *t, vtime at)
{
    if (at > *t)
        *t = at;
}

/* ---- buffers ---- */

static struct held *hold(struct rma_peer *p, struct mpi_req *req)
{
    struct held *h = pool_alloc(&mpi_world.pool, sizeof *h);

    *h = (struct held){p, req};
    p->unsent++;
    p->win->unsent++;
    return h;
}

/* The program may use the buffer of an operation again, from t on. */
static void buffer_is_free(struct rma_peer *p, struct mpi_req *req, vtime t)
{
    reach(&p->local, t);
    reach(&p->win->local, t);
    if (req)
        mpi_req_done(req, t, MPI_SUCCESS);
}

void rma_sent(struct mpi_rank *self, void *what, vtime t)
{
    struct held *h = what;

    (void)self;
    assert(h->peer->unsent > 0 && h->peer->win->unsent >= h->peer->unsent);
    h->peer->unsent--;
    h->peer->win->unsent--;
    buffer_is_free(h->peer, h->req, t);
    pool_free(&mpi_world.pool, h, sizeof *h);
}

/* Sends an operation with so many bytes of data; `req` is complete when its buffer is free. */
static void post_data(struct mpi_rank *self, struct rma_peer *p, struct mpi_msg *m, uint64_t bytes,
                      struct mpi_req *req)
{
    struct held *h = bytes >= mpi_world.try_below ? hold(p, req) : NULL;
    vtime done = post_message(self, p, m, bytes, h);

    if (done == DEVICE_BY_NOTICE)
        return;
    if (h)
        rma_sent(self, h, done);
    else
        buffer_is_free(p, req, done);
}

/* MPI_Win_lock_all locks a target when it is first used. */
static void lock_lazily(struct mpi_rank *self, struct rma_peer *p)
{
    p->lock = MPI_LOCK_SHARED;
    p->unchecked = p->win->unchecked;
    if (p->unchecked)
        return;
    rma_tell(self, p, RMA_LOCK, MPI_LOCK_SHARED);
    rma_await(self, p->win, &p->pending, "for the lock of", p->world);
    mpi_clock_reach(self, p->done);
}

void rma_issue(struct mpi_rank *self, struct rma_win *w, const struct rma_access *a)
{
    struct rma_peer *p = rma_peer_get(w, mpi_comm_world_rank(w->comm, (uint32_t)a->target));
    uint64_t bytes = data_bytes(a), moved = a->kind == RMA_GET ? a->count * a->type->size : bytes;
    struct mpi_msg *m;

    if (w->flying > IN_FLIGHT)
        rma_await_all(self, w);
    w->flying += moved + PER_MESSAGE;
    if (w->epoch == RMA_EPOCH_LOCK_ALL && !p->lock)
        lock_lazily(self, p);
    m = new_message(self, p, a, bytes);
    m->cookie = brings_data(a->kind) ? expect_data(p, a) : (uintptr_t)p;
    expect_answer(p);
    mpi_observe_access(self, MPI_ACCESS_RMA, p->world, moved);
    post_data(self, p, m, bytes, brings_data(a->kind) ? NULL : a->req);
}

/* ---- answers ---- */

/* Of several errors the first in virtual time is kept, in whatever order they arrive. */
static void note_error(struct rma_win *w, const struct mpi_msg *m)
{
    if (w->error && (w->error_at < m->em.arrival ||
                     (w->error_at == m->em.arrival && w->error_from <= m->em.src)))
        return;
    w->error = (int)m->ctx;
    w->error_from = m->em.src;
    w->error_at = m->em.arrival;
}

static void take_data(struct fetch *f, const struct mpi_msg *m)
{
    struct rma_peer *p = f->peer;

    if (m->bytes && !m->is_hollow)
        mpi_type_unpack(f->type, f->count, f->buf, m->payload, m->bytes);
    mpi_type_unref(f->type);
    p->fetching--;
    p->win->fetching--;
    reach(&p->local, m->em.arrival);
    reach(&p->win->local, m->em.arrival);
    if (f->req) {
        mpi_req_done(f->req, m->em.arrival, (int)m->ctx);
    } else if (m->ctx) {
        note_error(p->win, m);
    }
    pool_free(&mpi_world.pool, f, sizeof *f);
}

static void posted(struct mpi_rank *self, const struct mpi_msg *m)
{
    struct rma_win *w = rma_win_find(self, m->ctx);
    struct rma_peer *p;

    if (!w)
        return;
    p = rma_peer_get(w, m->em.src);
    p->unposted--;
    p->posted = m->em.arrival;
}

void rma_reply(struct mpi_rank *self, struct mpi_msg *m)
{
    struct rma_peer *p = (struct rma_peer *)(uintptr_t)m->cookie;

    if (m->tag == RMA_POST) {
        posted(self, m);
        engine_msg_free(&mpi_world.engine, &m->em);
        return;
    }
    if (brings_data((enum rma_kind)m->tag)) {
        struct fetch *f = (struct fetch *)(uintptr_t)m->cookie;

        p = f->peer;
        take_data(f, m);
    } else if (m->ctx) {
        note_error(p->win, m);
    }
    p->pending--;
    p->answers--;
    p->win->pending--;
    reach(&p->done, m->em.arrival);
    reach(&p->win->done, m->em.arrival);
    engine_msg_free(&mpi_world.engine, &m->em);
}

/* ---- waiting ---- */

struct count {
    const int32_t *at;
    int32_t until;
};

static int is_reached(struct mpi_rank *self, const void *count)
{
    const struct count *c = count;

    (void)self;
    return *c->at - c->until <= 0;
}

static void await_until(struct mpi_rank *self, const struct rma_win *w, const int32_t *count,
                        int32_t until, const char *what, int64_t world)
{
    struct mpi_req shown = {.kind = MPI_REQ_WORK,
                            .mode = MPI_MODE_ONE_SIDED,
                            .buf = (void *)what,
                            .peer = (int32_t)world,
                            .comm = (uint32_t)w->comm->handle};
    struct count c = {count, until};

    for (;;) {
        vtime due;

        mpi_drain(self);
        if (is_reached(self, &c))
            return;
        if (!mpi_decide(self, VTIME_NEVER, &due))
            mpi_block_until(self, due, 1, &shown, is_reached, &c);
    }
}

void rma_await(struct mpi_rank *self, const struct rma_win *w, const int32_t *count,
               const char *what, int64_t world)
{
    await_until(self, w, count, 0, what, world);
}

void rma_await_sent(struct mpi_rank *self, const struct rma_win *w, const int32_t *unsent)
{
    rma_await(self, w, unsent, "for its data to leave", -1);
}

/* Answers come in order. Other threads wait for what they send meanwhile. */
void rma_await_peer(struct mpi_rank *self, struct rma_peer *p)
{
    await_until(self, p->win, &p->answers, p->answers - p->pending, "for the window of", p->world);
    rma_await_sent(self, p->win, &p->unsent);
    mpi_clock_reach(self, p->done);
}

void rma_await_peers(struct mpi_rank *self, struct rma_win *w)
{
    if (!vp_private.threaded) {
        rma_await_all(self, w);
        return;
    }
    for (struct rma_peer *p = w->first; p; p = p->next)
        rma_await_peer(self, p);
}

void rma_await_all(struct mpi_rank *self, struct rma_win *w)
{
    rma_await(self, w, &w->pending, "for its operations", -1);
    rma_await_sent(self, w, &w->unsent);
    mpi_clock_reach(self, w->done);
    w->flying = 0;
}

int rma_outcome(struct mpi_rank *self, struct rma_win *w)
{
    int error = w->error, from;

    if (!error)
        return MPI_SUCCESS;
    from = mpi_comm_rank_of(w->comm, w->error_from);
    w->error = 0;
    if (error == MPI_ERR_RMA_RANGE)
        return mpi_raise_win(self, rma_win_handle(w), error,
                             "an operation reached beyond the window of rank %d", from);
    return mpi_raise_win(self, rma_win_handle(w), error, "an operation failed at rank %d", from);
}
