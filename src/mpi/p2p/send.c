/*
 * send.c - sending: eager, synchronous and rendezvous.
 *
 *     eager        t: sender is free at t + o_s; arrival t + o_s + delay(n)
 *     synchronous  the same, and complete when the receiver's ACK is back
 *     rendezvous   RTS arrives at t + o_s + delay(0); matched at m = max(that, time of receive);
 *                  CTS arrives at m + delay(0) = c; data arrives at c + delay(n); the sender is
 *                  complete at c + drain(n)
 *
 * Every time depends only on the send and the receive, not on when either rank happens to run: CTS
 * and DATA are handled when the rank is next in MPI, with the times they carry.
 *
 * The device decides delay and drain (net/device.h), at once or later: then the message arrives by
 * itself, and a notice (SENT) completes the send. A device may also hold back small messages.
 *
 * A message sent from a hollow buffer (hollow.h) is handled in the same way and takes the same
 * time, but carries nothing.
 */
#include <string.h>

#include "base/hostile.h"
#include "base/log_module.h"
#include "mpi/p2p/p2p_internal.h"
#include "mpi/p2p/service.h"
#include "mpi/p2p/strand.h"
#include "mpi/verify.h"
#include "net/device_uniform.h"

/* Steps for messages with the same tag and context are sent in the order of these messages; those
 * for others in any. */
static uint64_t tie_of(int tag, uint32_t ctx)
{
    return (uint64_t)ctx << 32 | (uint32_t)tag;
}

/* What may be overtaken on a network with substreams: sends of the program itself. Messages of
 * collectives and of agents keep one order among them, on which the synchronisation of windows
 * relies. */
static uint64_t substream_of(const struct engine_msg *em, enum net_substreams substreams)
{
    const struct mpi_msg *m = (const struct mpi_msg *)em;

    if (!mpi_msg_is_users(m))
        return 0;
    return tie_of(substreams == NET_SUBSTREAMS_TAG ? m->tag : 0, m->ctx);
}

void mpi_p2p_init(struct device device, uint64_t eager_limit)
{
    mpi_world.device = device;
    mpi_world.net.substream = substream_of;
    mpi_world.plain_messages = !mpi_world.checking && !mpi_world.hollow && !MPI_MESSAGES_ARE_SEEN;
    mpi_world.plain_sends = device.ops == &device_uniform_ops && mpi_world.plain_messages;
    mpi_world.eager_limit = eager_limit;
    mpi_world.try_below = device.ops->may_hold ? 0 : eager_limit + (eager_limit < UINT64_MAX);
}

static struct mpi_msg *new_msg(struct mpi_rank *self, uint32_t dst, enum mpi_msg_kind kind,
                               uint64_t payload)
{
    struct mpi_msg *m = (struct mpi_msg *)engine_msg_alloc(&mpi_world.engine,
                                                           sizeof(struct mpi_msg) + payload);

    m->em.src = mpi_rank_id(self);
    m->em.dst = dst;
    m->kind = (uint8_t)kind;
    m->cookie = 0;
    return m;
}

/* An eager message without payload, checks or number. */
static inline struct mpi_msg *new_hollow(struct mpi_rank *self, uint32_t dst)
{
    struct mpi_msg *m = new_msg(self, dst, MPI_MSG_HOLLOW, 0);

    m->is_signed = 0;
    m->is_hollow = 1;
    m->numbered = 0;
    return m;
}

/* A strand runs concurrently with the program, and the order of what both send depends on the
 * schedule. */
static uint64_t order_of(const struct mpi_msg *m)
{
    const struct mpi_strand *s = mpi_strand_current;

    return s ? (uint64_t)m->ctx << 32 | (uint32_t)s->tag_shift : MPI_ORDER_PROGRAM;
}

/* Does the program send, and nothing else for its rank: no strand, no rendezvous that is still to
 * move data, no agent, no other thread? */
static inline int sends_alone(const struct mpi_rank *self)
{
    return !mpi_strand_current && !self->sends_apart && !mpi_world.sends_apart &&
           !vp_private.threaded;
}

/* The program's own sends have an order that depends on nothing else. */
__attribute__((noinline)) static void watch_sent(const struct mpi_rank *self, uint32_t dst,
                                                 uint64_t bytes, vtime arrival)
{
    if (!mpi_strand_current && !vp_private.threaded)
        net_overcommit_sent(&mpi_world.net, mpi_rank_id(self), dst, bytes, self->ent.clock,
                            arrival);
}

/* A message was sent that may overcommit the node's link. */
static inline void watch(const struct mpi_rank *self, uint32_t dst, uint64_t bytes, vtime arrival)
{
    if (__builtin_expect(bytes >= mpi_world.net.overcommit.least, 0))
        watch_sent(self, dst, bytes, arrival);
}

/* When a message left its node: an eager one when it was sent, a large one just before it was
 * complete. */
static void watch_waited(const struct mpi_rank *self, struct net_overcommit_set *set,
                         const struct mpi_req *r)
{
    const struct net *net = &mpi_world.net;
    uint32_t src = mpi_rank_id(self), dst = (uint32_t)r->peer;
    int eager = r->bytes <= mpi_world.eager_limit || r->mode == MPI_MODE_BUFFERED;
    vtime begin = r->posted, end = r->complete;

    if (eager)
        end = vtime_add(begin, net_drain(net, src, dst, r->bytes, begin));
    else if (!net->drain_varies)
        begin = end - net_drain(net, src, dst, r->bytes, begin);
    net_overcommit_add(net, set, src, dst, r->bytes, begin, end);
}

void mpi_p2p_watch_waited(const struct mpi_rank *self, struct net_overcommit_set *set,
                          const struct mpi_req *r)
{
    if (r->kind == MPI_REQ_SEND && r->flags & MPI_REQ_DONE && r->error == MPI_SUCCESS &&
        r->bytes >= mpi_world.net.overcommit.least)
        watch_waited(self, set, r);
}

/* Sends a message of the program, of `bytes` bytes; `req`, if not NULL, waits until the device has
 * taken it. Returns when that is, or DEVICE_BY_NOTICE. */
static vtime transmit_own(struct mpi_rank *self, struct mpi_msg *m, uint64_t bytes,
                          const struct mpi_req *req)
{
    struct device_send how = {.t = self->ent.clock,
                              .bytes = bytes,
                              .order = order_of(m),
                              .cookie = (uintptr_t)req,
                              .alone = sends_alone(self)};
    uint32_t dst = m->em.dst;
    struct device_sent sent = device_send(&mpi_world.device, &m->em, &how);

    watch(self, dst, bytes, sent.arrival);
    return sent.done;
}

/* Sends a protocol step for a message, which keeps no order and which nobody waits for. */
static void transmit_step(struct mpi_msg *m, const struct mpi_msg *about, vtime t)
{
    device_send(&mpi_world.device, &m->em,
                &(struct device_send){.t = t, .tie = tie_of(about->tag, about->ctx)});
}

/* Does a message from this buffer carry nothing? With mpi_world.hollow only what the library itself
 * sends carries anything; collectives have hollow arguments then (coll/hollow.c). */
static int sends_nothing(const void *buf, const struct mpi_type *type, uint32_t ctx)
{
    return type && (mpi_data_is_hollow(buf, type) ||
                    (mpi_world.hollow && (mpi_ctx_is_users(ctx) || ctx >= MPI_CTX_CHANNELS)));
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

/* Creates a message to be matched, with room for `bytes` bytes unless it is hollow, and for a
 * signature and a number if needed; sets the number. */
static struct mpi_msg *new_matched(struct mpi_rank *self, uint32_t dst, enum mpi_msg_kind kind,
                                   int is_hollow, uint64_t bytes, int tag, uint32_t ctx)
{
    int is_signed = mpi_world.checking && mpi_verify_wants(tag, ctx);
    int numbered = MPI_MESSAGES_ARE_SEEN && kind != MPI_MSG_FREE;
    struct mpi_msg *m = new_msg(self, dst, kind,
                                (is_hollow ? 0 : bytes) + (is_signed ? sizeof(struct mpi_sig) : 0) +
                                    (numbered ? sizeof(uint64_t) : 0));

    m->is_signed = (uint8_t)is_signed & 1;
    m->is_hollow = (uint8_t)is_hollow & 1;
    if (kind == MPI_MSG_EAGER && (is_signed || is_hollow))
        m->kind = is_signed ? MPI_MSG_SIGNED : MPI_MSG_HOLLOW;
    m->tag = tag;
    m->ctx = ctx;
    m->numbered = 0;
    if (numbered)
        mpi_msg_number(m, self->ext->rare->sent);
    return m;
}

static void sign(struct mpi_rank *self, struct mpi_msg *m, uint64_t carried, uint64_t count,
                 const struct mpi_type *type)
{
    struct mpi_sig s;

    if (__builtin_expect(!m->is_signed, 1))
        return;
    s = mpi_sig_of(self, type, count);
    memcpy(m->payload + carried, &s, sizeof s);
}

/* A small message with its payload, which bears nothing for checks or observers. */
static inline __attribute__((always_inline)) struct mpi_msg *
new_plain(struct mpi_rank *self, const void *buf, uint64_t count, const struct mpi_type *type,
          uint32_t dst, int tag, uint32_t ctx, uint64_t cookie)
{
    uint64_t bytes = count * (type ? type->size : 0);
    struct mpi_msg *m;

    if (type && mpi_data_is_hollow(buf, type)) {
        m = new_hollow(self, dst);
    } else {
        m = new_msg(self, dst, MPI_MSG_EAGER, bytes);
        pack(m->payload, buf, count, type, bytes);
    }
    m->tag = tag;
    m->ctx = ctx;
    m->bytes = bytes;
    m->cookie = cookie;
    if (cookie)
        m->em.flags |= ENGINE_MSG_URGENT;
    return m;
}

/* send_eager on a device that takes all messages at once. */
static vtime send_eager_plain(struct mpi_rank *self, const void *buf, uint64_t count,
                              const struct mpi_type *type, uint32_t dst, int tag, uint32_t ctx,
                              uint64_t cookie)
{
    struct mpi_msg *m = new_plain(self, buf, count, type, dst, tag, ctx, cookie);
    struct device_send how = {.t = self->ent.clock,
                              .bytes = m->bytes,
                              .order = order_of(m),
                              .alone = sends_alone(self)};
    struct device_sent sent = device_send(&mpi_world.device, &m->em, &how);

    watch(self, dst, how.bytes, sent.arrival);
    return sent.done;
}

/* send_eager on any other device, checked or observed. */
static vtime send_eager_any(struct mpi_rank *self, const void *buf, uint64_t count,
                            const struct mpi_type *type, uint32_t dst, int tag, uint32_t ctx,
                            uint64_t cookie, const struct mpi_req *req)
{
    uint64_t bytes = count * (type ? type->size : 0);
    int is_hollow = sends_nothing(buf, type, ctx);
    struct mpi_msg *m = new_matched(self, dst, MPI_MSG_EAGER, is_hollow, bytes, tag, ctx);

    m->bytes = bytes;
    m->cookie = cookie;
    if (cookie)
        m->em.flags |= ENGINE_MSG_URGENT;
    pack(m->payload, buf, count, type, mpi_msg_carried(m));
    sign(self, m, mpi_msg_carried(m), count, type);
    return transmit_own(self, m, bytes, req);
}

__attribute__((noinline)) static vtime send_eager_other(struct mpi_rank *self, const void *buf,
                                                        uint64_t count, const struct mpi_type *type,
                                                        uint32_t dst, int tag, uint32_t ctx,
                                                        uint64_t cookie, const struct mpi_req *req)
{
    if (mpi_world.plain_messages && !mpi_world.device.ops->may_hold)
        return send_eager_plain(self, buf, count, type, dst, tag, ctx, cookie);
    return send_eager_any(self, buf, count, type, dst, tag, ctx, cookie, req);
}

/*
 * Sends a small message with its payload. With a cookie the receiver must answer it. Returns when
 * the send is complete for the device, or DEVICE_BY_NOTICE; then `req`, which is not NULL, gets a
 * notice.
 */
static vtime send_eager(struct mpi_rank *self, const void *buf, uint64_t count,
                        const struct mpi_type *type, uint32_t dst, int tag, uint32_t ctx,
                        uint64_t cookie, const struct mpi_req *req)
{
    struct mpi_msg *m;
    uint64_t bytes;
    vtime arrival;

    if (__builtin_expect(!mpi_world.plain_sends, 0))
        return send_eager_other(self, buf, count, type, dst, tag, ctx, cookie, req);
    m = new_plain(self, buf, count, type, dst, tag, ctx, cookie);
    bytes = m->bytes;
    m->em.arrival = arrival = device_uniform_arrival(&mpi_world.net, bytes, self->ent.clock);
    engine_inject(&mpi_world.engine, &m->em);
    watch(self, dst, bytes, arrival);
    return self->ent.clock;
}

/* Logs a step of a rendezvous or an acknowledgement. */
static void say(const struct mpi_rank *self, const char *what, uint32_t peer, vtime t)
{
    LOG_LINE(MPI, INFO, mpi_rank_id(self), t, "%s to rank %u", what, peer);
}

static void send_rts(struct mpi_rank *self, struct mpi_req *req)
{
    struct mpi_msg *m = new_matched(self, (uint32_t)req->peer, MPI_MSG_RTS, 0, 0, req->tag,
                                    req->ctx);

    say(self, "ready to send", m->em.dst, self->ent.clock);
    m->em.flags |= ENGINE_MSG_URGENT;
    m->bytes = req->bytes;
    m->cookie = (uintptr_t)req;
    sign(self, m, 0, req->count, req->type);
    transmit_own(self, m, 0, NULL);
    self->sends_apart = 1;
}

/* Sends a protocol step back to the other side of `to`. */
static struct mpi_msg *answer(struct mpi_rank *self, const struct mpi_msg *to,
                              enum mpi_msg_kind kind, uint64_t payload)
{
    struct mpi_msg *m = new_msg(self, to->em.src, kind, payload);

    m->em.flags |= ENGINE_MSG_URGENT;
    return m;
}

/* `answer` within a rendezvous, whose steps pass on the number of the message. */
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

    assert_hot(rts->kind == MPI_MSG_RTS && req->kind == MPI_REQ_RECV);
    say(self, "clear to send", rts->em.src, t);
    m->cookie = rts->cookie;
    memcpy(m->payload, &dest, sizeof dest);
    transmit_step(m, rts, t);
}

void mpi_send_ack(struct mpi_rank *self, const struct mpi_msg *eager, vtime t)
{
    struct mpi_msg *m = answer(self, eager, MPI_MSG_ACK, 0);

    assert_hot(eager->cookie != 0);
    say(self, "acknowledgement", eager->em.src, t);
    m->cookie = eager->cookie;
    transmit_step(m, eager, t);
}

static void complete_send(struct mpi_req *req, vtime t)
{
    assert_hot(req->kind == MPI_REQ_SEND && !(req->flags & MPI_REQ_DONE) && t >= req->posted);
    req->complete = t;
    req->flags |= MPI_REQ_DONE;
    if (req->flags & MPI_REQ_ORPHAN)
        mpi_req_release(req);
}

struct engine_msg *mpi_notice(void *owner, uint64_t cookie)
{
    struct mpi_msg *m = (struct mpi_msg *)engine_msg_alloc(&mpi_world.engine,
                                                           sizeof(struct mpi_msg));

    (void)owner;
    m->kind = MPI_MSG_SENT;
    m->cookie = cookie;
    return &m->em;
}

void mpi_handle_cts(struct mpi_rank *self, struct mpi_msg *cts)
{
    struct mpi_req *req = (struct mpi_req *)(uintptr_t)cts->cookie;
    int is_hollow = sends_nothing(req->buf, req->type, req->ctx);
    uint64_t bytes = req->bytes;
    struct mpi_msg *m = step(self, cts, MPI_MSG_DATA, is_hollow ? 0 : bytes);
    struct device_send how = {.t = cts->em.arrival,
                              .bytes = bytes,
                              .tie = tie_of(req->tag, req->ctx),
                              .cookie = (uintptr_t)req,
                              .until = DEVICE_LEFT};
    vtime done;

    assert_hot(req->kind == MPI_REQ_SEND && !(req->flags & MPI_REQ_DONE));
    assert_hot((uint32_t)req->peer == cts->em.src && cts->em.arrival >= req->posted);
    memcpy(&m->cookie, cts->payload, sizeof m->cookie);
    m->bytes = bytes;
    m->is_hollow = (uint8_t)is_hollow & 1;
    pack(m->payload, req->buf, req->count, req->type, mpi_msg_carried(m));
    done = device_send(&mpi_world.device, &m->em, &how).done;
    if (done != DEVICE_BY_NOTICE)
        complete_send(req, done);
    engine_msg_free(&mpi_world.engine, &cts->em);
}

void mpi_handle_ack(struct mpi_rank *self, struct mpi_msg *m)
{
    complete_send((struct mpi_req *)(uintptr_t)m->cookie, m->em.arrival);
    engine_msg_free(&mpi_world.engine, &m->em);
    (void)self;
}

void mpi_handle_sent(struct mpi_rank *self, struct mpi_msg *m)
{
    if (mpi_service_owns(m->cookie))
        mpi_service_sent(self, m);
    else
        complete_send((struct mpi_req *)(uintptr_t)m->cookie, m->em.arrival);
    engine_msg_free(&mpi_world.engine, &m->em);
}

static int is_eager(uint64_t bytes, enum mpi_send_mode mode)
{
    return bytes <= mpi_world.eager_limit || mode == MPI_MODE_BUFFERED;
}

void mpi_p2p_send_free(struct mpi_rank *self, const void *buf, uint64_t count,
                       const struct mpi_type *type, uint32_t dst, int tag, uint32_t ctx)
{
    uint64_t bytes = count * (type ? type->size : 0);
    int is_hollow = sends_nothing(buf, type, ctx);
    struct mpi_msg *m = new_matched(self, dst, MPI_MSG_FREE, is_hollow, bytes, tag, ctx);

    m->em.arrival = self->ent.clock;
    m->bytes = bytes;
    pack(m->payload, buf, count, type, mpi_msg_carried(m));
    sign(self, m, mpi_msg_carried(m), count, type);
    engine_inject(&mpi_world.engine, &m->em);
}

int mpi_p2p_try_send(struct mpi_rank *self, const void *buf, uint64_t count, struct mpi_type *type,
                     uint32_t dst, int tag, uint32_t ctx, enum mpi_send_mode mode)
{
    uint64_t bytes = count * (type ? type->size : 0);

    if (mode == MPI_MODE_SYNC || (bytes >= mpi_world.try_below && mode != MPI_MODE_BUFFERED))
        return 0;
    mpi_rank_prefetch(dst);
    mpi_clock_add(self, mpi_send_cost(self, dst, bytes));
    mpi_observe_sent(self, dst, tag, ctx, bytes, NULL);
    send_eager(self, buf, count, type, dst, tag, ctx, 0, NULL);
    return 1;
}

void mpi_p2p_isend(struct mpi_rank *self, struct mpi_req *req, const void *buf, uint64_t count,
                   struct mpi_type *type, uint32_t dst, int tag, uint32_t ctx, MPI_Comm comm,
                   enum mpi_send_mode mode)
{
    uint64_t bytes = count * (type ? type->size : 0);
    vtime done;

    assert_hot(!(req->flags & MPI_REQ_QUEUED) && dst < mpi_world.room);
    mpi_clock_add(self, mpi_send_cost(self, dst, bytes));
    mpi_observe_sent(self, dst, tag, ctx, bytes, req);
    req->kind = MPI_REQ_SEND;
    req->flags &= MPI_REQ_HEAP | MPI_REQ_PERSISTENT | MPI_REQ_ACTIVE | MPI_REQ_CHILD;
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
    if (mode == MPI_MODE_SYNC) {
        send_eager(self, buf, count, type, dst, tag, ctx, (uintptr_t)req, NULL);
        return;
    }
    done = send_eager(self, buf, count, type, dst, tag, ctx, 0,
                      mode == MPI_MODE_BUFFERED ? NULL : req);
    if (done != DEVICE_BY_NOTICE) {
        req->complete = done;
        req->flags |= MPI_REQ_DONE;
    }
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
