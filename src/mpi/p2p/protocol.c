/*
 * protocol.c - sending: eager, synchronous and rendezvous.
 *
 *     eager        t: sender is free at t + o_s; arrival t + o_s + delay(n)
 *     synchronous  the same, and complete when the receiver's ACK is back
 *     rendezvous   RTS arrives at t + o_s + delay(0); matched at m = max(that, time of the receive);
 *                  CTS arrives at m + delay(0) = c; data arrives at c + delay(n); the sender is
 *                  complete at c + drain(n)
 *
 * Every time is a function of the send and of the receive alone, not of when either rank happens to
 * be run: CTS and DATA are handled when the rank is next in MPI, with the times they carry.
 *
 * With contention in the network, delay and drain are not known beforehand: the message goes to the
 * engine's medium, and a notice (SENT) tells the sender of a large one when its last byte has left.
 */
#include <string.h>

#include "mpi/p2p/p2p_internal.h"
#include "mpi/p2p/strand.h"
#include "mpi/verify.h"

static struct mpi_msg *new_msg(struct mpi_rank *self, uint32_t dst, enum mpi_msg_kind kind,
                               uint64_t payload)
{
    struct mpi_msg *m =
        (struct mpi_msg *)engine_msg_alloc(&mpi_world.engine, sizeof(struct mpi_msg) + payload);

    m->em.src = mpi_rank_id(self);
    m->em.dst = dst;
    m->kind = (uint8_t)kind;
    m->cookie = 0;
    return m;
}

vtime mpi_transmit(struct mpi_msg *m, const struct engine_call *call, vtime t, vtime not_before)
{
    const struct net *net = &mpi_world.net;
    uint64_t bytes = call->load;

    if (net->contended && !net_is_direct(net, m->em.src, m->em.dst, bytes, call->order != 0)) {
        m->em.arrival = t;
        engine_submit(&mpi_world.engine, &m->em, call);
        return 0;
    }
    t = vtime_add(t, net_delay(net, m->em.src, m->em.dst, bytes, t));
    if (t < not_before)
        t = not_before;
    m->em.arrival = t;
    engine_inject(&mpi_world.engine, &m->em);
    return t;
}

/* A strand goes on beside the program, and the order of what both send is a matter of the schedule. */
static uint64_t order_of(const struct mpi_msg *m)
{
    const struct mpi_strand *s = mpi_strand_current;

    return s ? (uint64_t)m->ctx << 32 | (uint32_t)s->tag_shift : MPI_ORDER_PROGRAM;
}

/* Something that the program sends now: it may have to wait for what it has sent before. */
static void transmit_own(struct mpi_rank *self, struct mpi_msg *m, uint64_t bytes)
{
    struct net *net = &mpi_world.net;

    if (!net->ops->arrival || mpi_strand_current) {
        mpi_transmit(m, &(struct engine_call){.load = bytes, .order = order_of(m)}, self->ent.clock, 0);
        return;
    }
    m->em.arrival = net->ops->arrival(net, mpi_rank_index(self), m->em.src, m->em.dst, bytes,
                                      self->ent.clock);
    engine_inject(&mpi_world.engine, &m->em);
}

static void pack(char *out, const void *buf, uint64_t count, const struct mpi_type *type,
                 uint64_t bytes)
{
    if (bytes == 0)
        return;
    if (type->contig && bytes == 8)
        memcpy(out, buf, 8); /* by far the most frequent: saves the call */
    else if (type->contig)
        memcpy(out, buf, bytes);
    else
        mpi_type_pack(type, count, buf, out);
}

/* Makes room for a signature and a number if there are to be some, and sets the number. */
static struct mpi_msg *new_matched(struct mpi_rank *self, uint32_t dst, enum mpi_msg_kind kind,
                                   uint64_t payload, int tag, uint32_t ctx)
{
    int is_signed = mpi_world.checking && mpi_verify_wants(tag, ctx);
    int numbered = MPI_MESSAGES_ARE_SEEN && kind != MPI_MSG_FREE;
    struct mpi_msg *m = new_msg(self, dst, kind, payload + (is_signed ? sizeof(struct mpi_sig) : 0) +
                                                     (numbered ? sizeof(uint64_t) : 0));

    m->is_signed = (uint8_t)is_signed;
    if (is_signed && kind == MPI_MSG_EAGER)
        m->kind = MPI_MSG_SIGNED;
    m->numbered = 0;
    if (numbered)
        mpi_msg_number(m, self->ext->sent);
    return m;
}

static void sign(struct mpi_rank *self, struct mpi_msg *m, uint64_t payload, uint64_t count,
                 const struct mpi_type *type)
{
    struct mpi_sig s;

    if (__builtin_expect(!m->is_signed, 1))
        return;
    s = mpi_sig_of(self, type, count);
    memcpy(m->payload + payload, &s, sizeof s);
}

/* The same as below on any network, and checked. */
__attribute__((noinline)) static void send_eager_other(struct mpi_rank *self, const void *buf,
                                                       uint64_t count, const struct mpi_type *type,
                                                       uint32_t dst, int tag, uint32_t ctx,
                                                       uint64_t cookie)
{
    uint64_t bytes = count * (type ? type->size : 0);
    struct mpi_msg *m = new_matched(self, dst, MPI_MSG_EAGER, bytes, tag, ctx);

    m->tag = tag;
    m->ctx = ctx;
    m->bytes = bytes;
    m->cookie = cookie;
    if (cookie)
        m->em.flags |= ENGINE_MSG_URGENT;
    pack(m->payload, buf, count, type, bytes);
    sign(self, m, bytes, count, type);
    transmit_own(self, m, bytes);
}

/* A small message with its payload; returns it injected. Used for eager sends and, with a
 * cookie, for synchronous ones. */
static void send_eager(struct mpi_rank *self, const void *buf, uint64_t count,
                       const struct mpi_type *type, uint32_t dst, int tag, uint32_t ctx,
                       uint64_t cookie)
{
    uint64_t bytes = count * (type ? type->size : 0);
    struct mpi_msg *m;

    if (__builtin_expect(!mpi_world.plain_sends, 0)) {
        send_eager_other(self, buf, count, type, dst, tag, ctx, cookie);
        return;
    }
    m = new_msg(self, dst, MPI_MSG_EAGER, bytes);
    m->tag = tag;
    m->ctx = ctx;
    m->bytes = bytes;
    m->cookie = cookie;
    if (cookie)
        m->em.flags |= ENGINE_MSG_URGENT;
    pack(m->payload, buf, count, type, bytes);
    m->em.arrival = vtime_add(self->ent.clock, net_delay(&mpi_world.net, m->em.src, dst, bytes, 0));
    engine_inject(&mpi_world.engine, &m->em);
}

static void send_rts(struct mpi_rank *self, struct mpi_req *req)
{
    struct mpi_msg *m = new_matched(self, (uint32_t)req->peer, MPI_MSG_RTS, 0, req->tag, req->ctx);

    m->em.flags |= ENGINE_MSG_URGENT;
    m->tag = req->tag;
    m->ctx = req->ctx;
    m->bytes = req->bytes;
    m->cookie = (uintptr_t)req;
    sign(self, m, 0, req->count, req->type);
    transmit_own(self, m, 0);
}

/* A step of the protocol back to the other side of `to`. */
static struct mpi_msg *answer(struct mpi_rank *self, const struct mpi_msg *to,
                              enum mpi_msg_kind kind, uint64_t payload)
{
    struct mpi_msg *m = new_msg(self, to->em.src, kind, payload);

    m->em.flags |= ENGINE_MSG_URGENT;
    return m;
}

/* The same within a rendezvous, whose steps hand on the number of the message. */
static struct mpi_msg *step(struct mpi_rank *self, const struct mpi_msg *to, enum mpi_msg_kind kind,
                            uint64_t payload)
{
    struct mpi_msg *m = answer(self, to, kind, payload + (to->numbered ? sizeof(uint64_t) : 0));

    m->numbered = 0;
    if (to->numbered)
        mpi_msg_number(m, mpi_msg_number_of(to));
    return m;
}

void mpi_send_cts(struct mpi_rank *self, struct mpi_req *req, const struct mpi_msg *rts, vtime t)
{
    uint64_t dest = (uintptr_t)req;
    struct mpi_msg *m = step(self, rts, MPI_MSG_CTS, sizeof dest);

    m->cookie = rts->cookie;
    memcpy(m->payload, &dest, sizeof dest);
    mpi_transmit(m, &(struct engine_call){0}, t, 0);
}

void mpi_send_ack(struct mpi_rank *self, const struct mpi_msg *eager, vtime t)
{
    struct mpi_msg *m = answer(self, eager, MPI_MSG_ACK, 0);

    m->cookie = eager->cookie;
    mpi_transmit(m, &(struct engine_call){0}, t, 0);
}

static void complete_send(struct mpi_req *req, vtime t)
{
    req->complete = t;
    req->flags |= MPI_REQ_DONE;
    if (req->flags & MPI_REQ_ORPHAN)
        mpi_req_release(req);
}

struct engine_msg *mpi_notice(void *owner, uint64_t cookie)
{
    struct mpi_msg *m =
        (struct mpi_msg *)engine_msg_alloc(&mpi_world.engine, sizeof(struct mpi_msg));

    (void)owner;
    m->kind = MPI_MSG_SENT;
    m->cookie = cookie;
    return &m->em;
}

void mpi_handle_cts(struct mpi_rank *self, struct mpi_msg *cts)
{
    const struct net *net = &mpi_world.net;
    struct mpi_req *req = (struct mpi_req *)(uintptr_t)cts->cookie;
    uint32_t src = cts->em.dst, dst = cts->em.src;
    uint64_t bytes = req->bytes;
    vtime t = cts->em.arrival;
    struct mpi_msg *m = step(self, cts, MPI_MSG_DATA, bytes);
    struct engine_call call = {.load = bytes};

    memcpy(&m->cookie, cts->payload, sizeof m->cookie);
    m->bytes = bytes;
    pack(m->payload, req->buf, req->count, req->type, bytes);
    if (net->contended && !net_is_direct(net, src, dst, bytes, 0))
        call.cookie = (uintptr_t)req;
    else
        complete_send(req, vtime_add(t, net_drain(net, src, dst, bytes, t)));
    mpi_transmit(m, &call, t, 0);
    engine_msg_free(&mpi_world.engine, &cts->em);
}

void mpi_handle_ack(struct mpi_rank *self, struct mpi_msg *m)
{
    complete_send((struct mpi_req *)(uintptr_t)m->cookie, m->em.arrival);
    engine_msg_free(&mpi_world.engine, &m->em);
    (void)self;
}

static int is_eager(uint64_t bytes, enum mpi_send_mode mode)
{
    return bytes <= mpi_world.eager_limit || mode == MPI_MODE_BUFFERED;
}

void mpi_p2p_send_free(struct mpi_rank *self, const void *buf, uint64_t count,
                       const struct mpi_type *type, uint32_t dst, int tag, uint32_t ctx)
{
    uint64_t bytes = count * (type ? type->size : 0);
    struct mpi_msg *m = new_matched(self, dst, MPI_MSG_FREE, bytes, tag, ctx);

    m->em.arrival = self->ent.clock;
    m->tag = tag;
    m->ctx = ctx;
    m->bytes = bytes;
    pack(m->payload, buf, count, type, bytes);
    sign(self, m, bytes, count, type);
    engine_inject(&mpi_world.engine, &m->em);
}

int mpi_p2p_try_send(struct mpi_rank *self, const void *buf, uint64_t count, struct mpi_type *type,
                     uint32_t dst, int tag, uint32_t ctx, enum mpi_send_mode mode)
{
    uint64_t bytes = count * (type ? type->size : 0);

    if (mode == MPI_MODE_SYNC || !is_eager(bytes, mode))
        return 0;
    mpi_rank_prefetch(dst);
    mpi_clock_add(self, mpi_send_cost(self, dst, bytes));
    mpi_observe_sent(self, dst, tag, ctx, bytes, NULL);
    send_eager(self, buf, count, type, dst, tag, ctx, 0);
    return 1;
}

void mpi_p2p_isend(struct mpi_rank *self, struct mpi_req *req, const void *buf, uint64_t count,
                   struct mpi_type *type, uint32_t dst, int tag, uint32_t ctx, MPI_Comm comm,
                   enum mpi_send_mode mode)
{
    uint64_t bytes = count * (type ? type->size : 0);

    mpi_clock_add(self, mpi_send_cost(self, dst, bytes));
    mpi_observe_sent(self, dst, tag, ctx, bytes, req);
    req->kind = MPI_REQ_SEND;
    req->flags &= MPI_REQ_HEAP | MPI_REQ_PERSISTENT | MPI_REQ_ACTIVE;
    req->mode = (uint8_t)mode;
    req->buf = (void *)buf;
    req->count = count;
    req->type = type;
    req->bytes = bytes;
    req->peer = (int32_t)dst;
    req->tag = tag;
    req->ctx = ctx;
    req->comm = (uint32_t)comm;
    req->error = MPI_SUCCESS;
    req->posted = self->ent.clock;
    if (!is_eager(bytes, mode)) {
        send_rts(self, req);
        return;
    }
    send_eager(self, buf, count, type, dst, tag, ctx,
               mode == MPI_MODE_SYNC ? (uintptr_t)req : 0);
    if (mode != MPI_MODE_SYNC) {
        req->complete = self->ent.clock;
        req->flags |= MPI_REQ_DONE;
    }
}

void mpi_p2p_irecv(struct mpi_rank *self, struct mpi_req *req, void *buf, uint64_t count,
                   struct mpi_type *type, int32_t src, int tag, uint32_t ctx, MPI_Comm comm)
{
    req->kind = MPI_REQ_RECV;
    req->flags &= MPI_REQ_HEAP | MPI_REQ_PERSISTENT | MPI_REQ_ACTIVE;
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
