/*
 * p2p_internal.h - messages on the wire and the two queues of a rank.
 *
 * Kinds of message, and where they go:
 *
 *     EAGER   sender -> receiver    envelope and payload; SYNC: the receiver answers with ACK
 *     HOLLOW  sender -> receiver    EAGER that carries no bytes
 *     SIGNED  sender -> receiver    EAGER with a signature to be checked (verify.h), hollow or not
 *     RTS     sender -> receiver    envelope of a large message (request to send)
 *     FREE    sender -> receiver    EAGER that takes no time: part of a collective whose cost
 *                                   is a model's (coll/coll_model.c)
 *     CTS     receiver -> sender    matched: send it (clear to send)
 *     DATA    sender -> receiver    the payload
 *     ACK     receiver -> sender    a synchronous eager message was matched
 *     SENT    device -> sender      it need not wait any longer: its message was taken, or has left
 *     SERVICE anyone -> an agent    to be served in order of time (service.h)
 *     REPLY   agent -> anyone       its answer
 *
 * A cookie is the address of the request at the side that will get the answer. It is dereferenced
 * only in that rank's own context, so requests may be on stacks that are not loaded now. In a
 * notice it may be the address of something that belongs to a service (service.h): then its lowest
 * bits say which.
 */
#ifndef MPI_P2P_INTERNAL_H
#define MPI_P2P_INTERNAL_H

#include "mpi/comm/comm.h"
#include "mpi/error.h"
#include "mpi/ext.h"
#include "mpi/observe.h"
#include "mpi/p2p/p2p.h"

enum mpi_msg_kind {
    MPI_MSG_EAGER = 0,
    MPI_MSG_HOLLOW, /* the last that needs no more than a copy, if that */
    MPI_MSG_SIGNED,
    MPI_MSG_RTS,
    MPI_MSG_FREE,
    MPI_MSG_CTS,
    MPI_MSG_DATA,
    MPI_MSG_ACK,
    MPI_MSG_SENT,
    MPI_MSG_SERVICE,
    MPI_MSG_REPLY,
};

struct mpi_msg {
    struct engine_msg em;
    uint64_t bytes;  /* of the user's message */
    uint64_t cookie; /* request to answer to, or to complete; 0: none */
    int32_t tag;
    uint32_t ctx;
    uint32_t heap_pos;     /* in the early index */
    uint8_t kind;          /* enum mpi_msg_kind */
    uint8_t service;       /* enum mpi_service */
    uint8_t is_signed : 1; /* all matched kinds but EAGER: a struct mpi_sig follows the payload */
    uint8_t is_hollow : 1; /* likewise, and DATA: `bytes` bytes were sent, but none are here */
    uint8_t numbered;      /* its last 8 bytes are its number (seen.c) */
    char payload[];
};
_Static_assert(sizeof(struct mpi_msg) <= 64, "a message costs at most 64 bytes");

/* Contexts from here on are those of partitioned communication (partitioned_api.c). */
#define MPI_CTX_PARTITIONED 0x80000000u
/* Of these, those from here on carry data of the program. */
#define MPI_CTX_CHANNELS 0xc0000000u

/* Is it on a context of the program's own sends? */
static inline int mpi_ctx_is_users(uint32_t ctx)
{
    return !mpi_ctx_is_coll(ctx) && ctx < MPI_CTX_PARTITIONED;
}
/* Do messages of the program from or to this buffer carry nothing? */
static inline int mpi_buffer_is_hollow(const void *buf, const struct mpi_type *type)
{
    return mpi_world.hollow || mpi_data_is_hollow(buf, type);
}
/* A message that a program has sent and that a receive must match. */
static inline int mpi_msg_is_users(const struct mpi_msg *m)
{
    return m->kind <= MPI_MSG_FREE && mpi_ctx_is_users(m->ctx);
}

/* ---- numbers for observers (seen.c) ---- */
void mpi_msg_number(struct mpi_msg *, uint64_t number);
uint64_t mpi_msg_number_of(const struct mpi_msg *);

/* Every receipt of a message ends here: its payload is in the buffer of the receive, which is
 * complete at time t. `req` is NULL if there is none (recv.c). Frees the message. */
static inline void mpi_received(struct mpi_rank *self, struct mpi_msg *m, const struct mpi_req *req,
                                vtime t)
{
    mpi_observe_received(self, m, req, t);
    engine_msg_free(&mpi_world.engine, &m->em);
}

/* ---- early messages (early.c) ---- */
void mpi_early_add(struct mpi_rank *self, struct mpi_msg *m);
/* The first matching message from `src` in send order, or NULL. Not removed. */
struct mpi_msg *mpi_early_find(struct mpi_rank *self, uint32_t ctx, uint32_t src, int32_t tag);
/* Of the first matching message of each source, the one that arrives first (then the smallest
 * source), or NULL. Only messages to which `claimer` has the first claim by order of posting (NULL:
 * no receive has). Not removed. */
struct mpi_msg *mpi_early_find_any(struct mpi_rank *self, uint32_t ctx, int32_t tag,
                                   const struct mpi_req *claimer);
/* Removes it; the caller owns it. */
void mpi_early_take(struct mpi_rank *self, struct mpi_msg *m);
/* Calls fn for every message, those of a source in the order of sending, until fn returns
 * non-zero. */
int mpi_early_each(struct mpi_rank *self, int (*fn)(struct mpi_rank *, struct mpi_msg *, void *),
                   void *arg);

/* ---- matching (match.c) ---- */
static inline int mpi_tag_fits(int32_t want, int32_t tag)
{
    return want == tag || want == MPI_ANY_TAG;
}
/* Number of undecided receives of a rank: from any source, or cancellable. */
static inline uint32_t mpi_wild_count(const struct mpi_rank *self)
{
    return self->ent.owner_word;
}
/* Handles a message from the inbox. */
void mpi_handle(struct mpi_rank *self, struct mpi_msg *m);
/* Handles everything in the inbox. */
void mpi_drain(struct mpi_rank *self);
/* Takes the next decision if it is due by `limit` and safe: returns 1. Else 0, and when it is due
 * (VTIME_NEVER: none). `limit` is a time the rank's call cannot return before, and the caller looks
 * after each decision whether it can: decisions ahead of the clock would bind later calls. */
int mpi_decide(struct mpi_rank *self, vtime limit, vtime *due);
/* While receives are undecided: the first posted receive that m matches, or NULL. */
const struct mpi_req *mpi_claimer(struct mpi_rank *self, const struct mpi_msg *m);
/* Early messages may have become available to named receives at time t. */
void mpi_retry(struct mpi_rank *self, vtime t);
/* Posts a filled receive request: matches an early message or queues it. */
void mpi_post(struct mpi_rank *self, struct mpi_req *req);
/* Removes a request from the posted list. */
void mpi_unpost(struct mpi_rank *self, struct mpi_req *req);
/* Matches req with m (which it frees) at time t >= req->posted. */
void mpi_match(struct mpi_rank *self, struct mpi_req *req, struct mpi_msg *m, vtime t);

/* ---- sending (send.c) ---- */
/* The orders of a rank's messages (device_send.order): messages of its program, and answers of its
 * agent. Strands have larger numbers. */
enum { MPI_ORDER_NONE = 0, MPI_ORDER_PROGRAM, MPI_ORDER_AGENT };

/* Requests that a rank has waited for together: could its link carry what was sent? Only ranks that
 * send apart have sends among them that are not judged by themselves (send.c). */
void mpi_p2p_watch_waited(const struct mpi_rank *self, struct net_overcommit_set *,
                          const struct mpi_req *);
static inline int mpi_p2p_watches(const struct mpi_rank *self)
{
    return (self->sends_apart || mpi_strand_current) &&
           mpi_world.net.overcommit.least != UINT64_MAX;
}

/* For matched kinds but EAGER, and for DATA: the number of bytes in the payload. */
static inline uint64_t mpi_msg_carried(const struct mpi_msg *m)
{
    return m->is_hollow ? 0 : m->bytes;
}
/* For engine_ops: SENT. */
struct engine_msg *mpi_notice(void *owner, uint64_t cookie);
/* ---- what messages cost (costs.c) ---- */
vtime mpi_costs_send(struct mpi_rank *self, uint32_t dst, uint64_t bytes);
/* If it matters how messages are received (mpi_world.costs.receives): the rank takes all messages
 * that have arrived by t / is about to complete a request, for which it may have waited / records
 * this in a receive that is posted / the additional cost of receiving m, which is about to be
 * matched. */
void mpi_costs_look(struct mpi_rank *self, vtime t);
void mpi_costs_wait(struct mpi_rank *self, const struct mpi_req *req);
void mpi_costs_post(const struct mpi_rank *self, struct mpi_req *req);
vtime mpi_costs_take(struct mpi_req *req, const struct mpi_msg *m);
static inline int mpi_costs_are_for_receives(void)
{
    return __builtin_expect(mpi_world.costs.receives, 0);
}
/* If requests matter (mpi_world.costs.requests): the program starts a non-blocking operation / has
 * started a receive / frees a request / is about to complete it. */
void mpi_costs_start(struct mpi_rank *self);
void mpi_costs_pend(struct mpi_rank *self, struct mpi_req *req);
void mpi_costs_end(struct mpi_rank *self, struct mpi_req *req);
void mpi_costs_finish(struct mpi_rank *self, struct mpi_req *req);
static inline int mpi_costs_are_for_requests(void)
{
    return __builtin_expect(mpi_world.costs.requests, 0);
}

/* Receives that complete together and cost processor time, which the rank spends on one after the
 * other, in the order in which their messages have come. */
struct mpi_charge {
    vtime complete, cost;
    const struct mpi_req *req;
};
struct mpi_charges {
    struct mpi_charge *at;
    uint32_t count, room;
};
static inline int mpi_receives_cost(void)
{
    return __builtin_expect(mpi_world.costs.charges, 0);
}
/* Nothing, unless the request is a receive that is to be charged. It is charged once. */
void mpi_charges_add(struct mpi_charges *, struct mpi_req *);
/* Charges them; frees the list. */
void mpi_charges_settle(struct mpi_rank *self, struct mpi_charges *);
/* The rank waits until t, if that is later than its clock; then it spends `cost` on something that
 * has come at t. What has come while the rank was waiting for something else, it has received
 * meanwhile. */
void mpi_charge_receive(struct mpi_rank *self, vtime t, vtime cost);
/* The rank completes this request, which is done. */
static inline void mpi_req_charge(struct mpi_rank *self, struct mpi_req *req)
{
    if (!mpi_receives_cost()) {
        mpi_clock_reach(self, req->complete);
        return;
    }
    mpi_charge_receive(self, req->complete, req->flags & MPI_REQ_COSTS ? req->cost : 0);
    req->flags &= (uint16_t)~MPI_REQ_COSTS;
}
/* When a child of another request has been received. */
static inline vtime mpi_req_received_at(const struct mpi_req *req)
{
    return req->flags & MPI_REQ_COSTS ? vtime_add(req->complete, req->cost) : req->complete;
}

/* Processor time of `self` for a message that it sends, or has received. */
static inline vtime mpi_send_cost(struct mpi_rank *self, uint32_t dst, uint64_t bytes)
{
    if (__builtin_expect(!mpi_world.costs.varies, 1))
        return mpi_world.send_overhead;
    return mpi_costs_send(self, dst, bytes);
}
static inline vtime mpi_recv_cost(const struct mpi_msg *m)
{
    if (__builtin_expect(!mpi_world.costs.varies, 1))
        return mpi_world.recv_overhead;
    return net_recv_cost(&mpi_world.net, m->em.src, m->em.dst, m->bytes);
}
void mpi_handle_cts(struct mpi_rank *self, struct mpi_msg *m);
/* The send is complete. */
void mpi_handle_ack(struct mpi_rank *self, struct mpi_msg *m);
void mpi_handle_sent(struct mpi_rank *self, struct mpi_msg *m);
/* Answers a matched RTS: requests at time t the data for req. */
void mpi_send_cts(struct mpi_rank *self, struct mpi_req *req, const struct mpi_msg *rts, vtime t);
void mpi_send_ack(struct mpi_rank *self, const struct mpi_msg *m, vtime t);

/* ---- blocking (wait.c) ---- */
/* Blocks until something happens (may switch). `due`: when the rank's next decision is due, or
 * VTIME_NEVER. `wake_after`: arrivals needed before waking makes sense. `shown`: what it waits for,
 * for a deadlock report; may be NULL. */
void mpi_block(struct mpi_rank *self, vtime due, uint32_t wake_after, struct mpi_req *shown);
/* mpi_block with `due` from mpi_decide without limit, until a condition holds: other threads of the
 * rank handle messages meanwhile, and need not wake this one before. It may return earlier. */
void mpi_block_until(struct mpi_rank *self, vtime due, uint32_t wake_after, struct mpi_req *shown,
                     mpi_holds *holds, const void *arg);
/* mpi_block_until for callers that wait for several requests, and describe them themselves: if it
 * returns 1, the caller explains what it waits for and suspends the rank, as long as ent.wake is
 * ENGINE_WAKE_EXPLAIN. */
int mpi_block_asked(struct mpi_rank *self, vtime due, uint32_t wake_after, struct mpi_req *first,
                    mpi_holds *holds, const void *arg);
mpi_holds mpi_req_is_done;
/* The innermost step: suspends the rank or thread, without a look at what has come. */
void mpi_suspend(struct mpi_rank *self, vtime due, uint32_t wake_after, mpi_holds *holds,
                 const void *arg);
/* One step of a decision at time `due`: returns 1 when it may be taken now, else blocks once and
 * returns 0 (look at everything again). */
int mpi_decision_step(struct mpi_rank *self, vtime due, struct mpi_req *shown);

/* ---- request handles (request.c) ---- */
struct mpi_req *mpi_req_new(struct mpi_rank *self);
void mpi_req_release(struct mpi_req *);
/* Completes an MPI_REQ_WORK request at time t, with an MPI class; releases it if the program has
 * freed it. */
void mpi_req_done(struct mpi_req *, vtime t, int error);
/* The handle of a send that was complete at once, and what such a handle looks like. */
MPI_Request mpi_req_sent(struct mpi_rank *self);
#define MPI_REQ_SENT_HANDLE 0xae000000u
#define MPI_REQ_SENT_MASK 0x01ffffffu /* low bits of its number, if an observer assigns one */

static inline int mpi_req_is_sent(uint32_t handle)
{
    return (handle & ~MPI_REQ_SENT_MASK) == MPI_REQ_SENT_HANDLE;
}

/* The program has freed the request before it was complete; it is released when it is. */
void mpi_req_orphan(struct mpi_rank *self, struct mpi_req *);
/* Sends that were freed and are not complete yet. */
uint32_t mpi_req_orphans(const struct mpi_rank *self);
/* Something has ended at t that the program may not wait for: a request that it has freed, a
 * strand. MPI_Finalize does (mpi_rare.ended). */
void mpi_note_end(struct mpi_rank *self, vtime t);
/* A new request keeps references to its datatype and communicator until it is released. */
void mpi_req_keep(struct mpi_req *, struct mpi_comm *, struct mpi_type *);
MPI_Request mpi_req_handle(const struct mpi_req *);
/* NULL if the handle is not a live request of this rank. */
struct mpi_req *mpi_req_get(struct mpi_rank *self, MPI_Request);
/* Fills a status (may be MPI_STATUS_IGNORE) from a completed request. */
void mpi_status_set(MPI_Status *, const struct mpi_req *);
void mpi_status_empty(MPI_Status *);

/* Common argument checks; return MPI_SUCCESS or raise. */
struct mpi_sendargs {
    struct mpi_comm *comm;
    struct mpi_type *type;
};
int mpi_check_send(struct mpi_rank *self, const void *buf, MPI_Count count, MPI_Datatype type,
                   int dest, int tag, MPI_Comm comm, struct mpi_sendargs *out);
int mpi_check_recv(struct mpi_rank *self, const void *buf, MPI_Count count, MPI_Datatype type,
                   int source, int tag, MPI_Comm comm, struct mpi_sendargs *out);
int mpi_check_source(struct mpi_rank *self, int source, int tag, MPI_Comm comm, struct mpi_comm *c);
/* World rank of a source rank in c; MPI_ANY_SOURCE becomes MPI_P2P_ANY. */
int32_t mpi_source_world(const struct mpi_comm *c, int source);

/* ---- thread.c, yield.c: mpi_thread_enter_slow, mpi_thread_leave_slow, mpi_clock_yield ---- */
void p2p_thread_enter(void);
void p2p_thread_leave(int quiet);
void p2p_yield(struct mpi_rank *self);

/* ---- messages that did not fit (misfit.c) ---- */
#define MPI_MISFIT_TEXT 192
/* A receive of the rank is complete with an error, which is raised before the call returns. */
void mpi_misfit_note(struct mpi_rank *self, const struct mpi_req *) __attribute__((cold));
/* Returns "the message from rank 3, tag 5, has 40 bytes, the receive has room for 20" for the last
 * misfit and forgets it; NULL: there is none. */
const char *mpi_misfit_text(struct mpi_rank *self, char *out, size_t n);

/* For deadlock reports: what the rank waits for (explain.c). */
struct mpi_explanation {
    struct engine_waits *out; /* non-NULL while the engine asks */
    int any;                  /* one of several requests is enough */
};
extern struct mpi_explanation mpi_explanation;
void mpi_explain_recv(struct mpi_rank *self, int32_t src, int32_t tag, uint32_t ctx, MPI_Comm comm);
void mpi_explain_req(struct mpi_rank *self, const struct mpi_req *); /* NULL: it is not known */
/* All that are pending of an array of requests, or of handles; `any`: one of them is enough. */
void mpi_explain_all(struct mpi_rank *self, const struct mpi_req *, uint32_t n);
void mpi_explain_handles(struct mpi_rank *self, const MPI_Request *, int n, int any);

#endif
