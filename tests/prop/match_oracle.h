/*
 * The oracle of prop_match.c: a sequential simulator of the same programs, written from the rules
 * alone. Nothing runs ahead: time moves from event to event, and at each time
 *
 *     1. messages that have arrived go to named receives, ranks run their next operations,
 *        until nothing more happens;
 *     2. then one decision is taken, of the rank with the smallest number: a wildcard receive's
 *        before that of the call the rank is in; and again from 1.
 *
 * A message goes to the first posted receive it fits (in the order of posting), a receive takes the
 * first message of a source that fits (in the order of sending). While an undecided wildcard
 * receive may take a message, later receives that the message fits cannot know what they get, and
 * neither can those messages be seen by probes. In programs that cancel, every non-blocking receive
 * is undecided in this sense until its message has arrived. All is recomputed by linear scans at
 * every step.
 */
#ifndef MATCH_ORACLE_H
#define MATCH_ORACLE_H

#include <string.h>

#include "match_program.h"

enum { MSGS_MAX = RANKS_MAX * OPS_MAX, REQS_MAX = RANKS_MAX * OPS_MAX * 2 };

struct o_msg {
    int src, dst, comm, tag;
    uint32_t bytes;
    uint64_t id;
    vtime arrival;
    int sync, rts;
    int sender; /* its request */
    int taken;
    int assigned; /* recomputed: 1: has a named receive, 2: uncertain */
};

struct o_req {
    int rank, send;
    int src, comm, tag;
    int decision;   /* its match is a decision: any source, or it may be cancelled */
    int posted;     /* in the list of posted receives */
    int pick;       /* recomputed: message that a named receive will get, or -1 */
    vtime complete; /* VTIME_NEVER: not known */
    int cancelled;
    int got_src, got_tag;
    uint32_t bytes;
    uint64_t id;
};

struct o_rank {
    vtime clock;
    int pc, step;    /* step: how far inside the operation */
    int slot[SLOTS]; /* request or -1 */
    int req[2];      /* of the blocking operation in progress */
    int msg;
    int done;
};

struct oracle {
    const struct params *p;
    const struct program *g;
    vtime now;
    struct o_rank ranks[RANKS_MAX];
    struct o_msg msgs[MSGS_MAX];
    struct o_req reqs[REQS_MAX];
    int msg_count, req_count;
    struct log *logs;
};

static vtime o_drain(const struct oracle *o, uint32_t bytes)
{
    /* bandwidths in tests give whole picoseconds per byte */
    return o->p->bandwidth > 1e300 ? 0 : (vtime)bytes * (vtime)(8e12 / o->p->bandwidth + 0.5);
}

static vtime o_delay(const struct oracle *o, uint32_t bytes)
{
    return o->p->latency + o_drain(o, bytes);
}

static int o_fits(const struct o_req *r, const struct o_msg *m)
{
    return r->rank == m->dst && r->comm == m->comm && (r->src == ANY || r->src == m->src) &&
           (r->tag == ANY_TAG || r->tag == m->tag);
}

/* First posted receive without a message that m fits, or -1. */
static int o_first_posted(const struct oracle *o, const struct o_msg *m)
{
    for (int i = 0; i < o->req_count; i++)
        if (o->reqs[i].posted && o->reqs[i].pick < 0 && o_fits(&o->reqs[i], m))
            return i;
    return -1;
}

/* Does an earlier, uncertain message of the same source fit r too? */
static int o_uncertain_before(const struct oracle *o, int m, const struct o_req *r)
{
    for (int i = 0; i < m; i++)
        if (!o->msgs[i].taken && o->msgs[i].assigned == 2 && o->msgs[i].src == o->msgs[m].src &&
            o_fits(r, &o->msgs[i]))
            return 1;
    return 0;
}

/* What every named receive will get, from what has been sent so far. */
static void o_assign(struct oracle *o)
{
    for (int i = 0; i < o->req_count; i++)
        o->reqs[i].pick = -1;
    for (int i = 0; i < o->msg_count; i++) {
        struct o_msg *m = &o->msgs[i];
        int r;

        m->assigned = 0;
        if (m->taken || (r = o_first_posted(o, m)) < 0)
            continue;
        m->assigned = 2;
        if (!o->reqs[r].decision && !o_uncertain_before(o, i, &o->reqs[r])) {
            m->assigned = 1;
            o->reqs[r].pick = i;
        }
    }
}

/* The receive gets the message now. */
static void o_match(struct oracle *o, struct o_req *r, struct o_msg *m)
{
    vtime back = o->now + o_delay(o, 0);

    r->posted = 0;
    r->got_src = m->src;
    r->got_tag = m->tag;
    r->bytes = m->bytes;
    r->id = m->id;
    m->taken = 1;
    r->complete = o->now + o->p->recv_overhead;
    if (m->sync)
        o->reqs[m->sender].complete = back;
    if (m->rts) {
        o->reqs[m->sender].complete = back + o_drain(o, m->bytes);
        r->complete = back + o_delay(o, m->bytes) + o->p->recv_overhead;
    }
    o_assign(o);
}

static int o_commit(struct oracle *o)
{
    o_assign(o);
    for (int i = 0; i < o->req_count; i++) {
        struct o_req *r = &o->reqs[i];
        if (r->posted && r->pick >= 0 && o->msgs[r->pick].arrival <= o->now) {
            o_match(o, r, &o->msgs[r->pick]);
            return 1;
        }
    }
    return 0;
}

/* Of the first message per source that fits and is free for `claimer` (-1: nobody's) the earliest
 * that has arrived. */
static int o_candidate(const struct oracle *o, const struct o_req *want, int claimer)
{
    int best = -1;

    for (int s = 0; s < o->p->ranks; s++)
        for (int i = 0; i < o->msg_count; i++) {
            const struct o_msg *m = &o->msgs[i];
            if (m->taken || m->assigned == 1 || m->src != s || !o_fits(want, m))
                continue;
            if (m->arrival <= o->now && o_first_posted(o, m) == claimer &&
                (best < 0 || m->arrival < o->msgs[best].arrival))
                best = i;
            break;
        }
    return best;
}

static int o_decide_wild(struct oracle *o, int rank)
{
    for (int i = 0; i < o->req_count; i++) {
        struct o_req *r = &o->reqs[i];
        int m;
        if (r->rank != rank || !r->posted || !r->decision || (m = o_candidate(o, r, i)) < 0)
            continue;
        o_match(o, r, &o->msgs[m]);
        return 1;
    }
    return 0;
}

/* ---- operations ---- */

static int o_send(struct oracle *o, int rank, const struct op *p, int mode)
{
    struct o_rank *k = &o->ranks[rank];
    struct o_req *r = &o->reqs[o->req_count];
    struct o_msg *m = &o->msgs[o->msg_count++];

    k->clock += o->p->send_overhead;
    *r = (struct o_req){.rank = rank, .send = 1, .complete = VTIME_NEVER, .pick = -1};
    *m = (struct o_msg){.src = rank,
                        .dst = p->peer,
                        .comm = p->comm,
                        .tag = p->tag,
                        .bytes = p->bytes,
                        .id = p->id,
                        .sender = o->req_count};
    m->rts = p->bytes > EAGER_LIMIT && mode != OP_IBSEND;
    m->sync = !m->rts && mode == OP_ISSEND;
    m->arrival = k->clock + o_delay(o, m->rts ? 0 : p->bytes);
    if (!m->rts && !m->sync)
        r->complete = k->clock;
    return o->req_count++;
}

static int o_recv(struct oracle *o, int rank, int src, int tag, int comm)
{
    o->reqs[o->req_count] = (struct o_req){.rank = rank,
                                           .src = src,
                                           .tag = tag,
                                           .comm = comm,
                                           .posted = 1,
                                           .complete = VTIME_NEVER,
                                           .pick = -1,
                                           .decision = src == ANY};
    return o->req_count++;
}

static void o_log_req(struct oracle *o, int rank, int req)
{
    const struct o_req *r = &o->reqs[req];
    struct log *l = &o->logs[rank];

    if (o->ranks[rank].clock < r->complete)
        o->ranks[rank].clock = r->complete;
    if (r->send)
        return;
    log_add(l, r->cancelled);
    if (!r->cancelled) {
        log_add(l, r->got_src);
        log_add(l, r->got_tag);
        log_add(l, r->bytes);
        log_add(l, r->bytes ? (int64_t)r->id : 0);
    }
}

static void o_next(struct oracle *o, int rank)
{
    struct o_rank *k = &o->ranks[rank];

    log_add(&o->logs[rank], k->clock);
    k->pc++;
    k->step = 0;
    k->req[0] = k->req[1] = -1;
}

static int o_complete(const struct oracle *o, int req)
{
    return o->reqs[req].complete <= o->now;
}

/* Waitany and Waitsome: 1 when done. */
static int o_wait_some(struct oracle *o, int rank, const struct op *p, int all)
{
    struct o_rank *k = &o->ranks[rank];
    int live = 0, done = 0;

    for (int i = 0; i < SLOTS; i++)
        if ((p->mask >> i & 1) && k->slot[i] >= 0) {
            live++;
            done += o_complete(o, k->slot[i]);
        }
    if (live && !done)
        return 0;
    for (int i = 0; i < SLOTS; i++)
        if ((p->mask >> i & 1) && k->slot[i] >= 0 && o_complete(o, k->slot[i])) {
            log_add(&o->logs[rank], i);
            o_log_req(o, rank, k->slot[i]);
            k->slot[i] = -1;
            if (!all)
                break;
        }
    return 1;
}

static int o_wait_all(struct oracle *o, int rank, const struct op *p)
{
    struct o_rank *k = &o->ranks[rank];

    for (int i = 0; i < SLOTS; i++)
        if ((p->mask >> i & 1) && k->slot[i] >= 0 && !o_complete(o, k->slot[i]))
            return 0;
    for (int i = 0; i < SLOTS; i++)
        if ((p->mask >> i & 1) && k->slot[i] >= 0) {
            o_log_req(o, rank, k->slot[i]);
            k->slot[i] = -1;
        }
    return 1;
}

/* Waits for the requests of the blocking operation. */
static int o_blocking(struct oracle *o, int rank)
{
    struct o_rank *k = &o->ranks[rank];

    for (int i = 0; i < 2; i++)
        if (k->req[i] >= 0 && !o_complete(o, k->req[i]))
            return 0;
    for (int i = 0; i < 2; i++)
        if (k->req[i] >= 0)
            o_log_req(o, rank, k->req[i]);
    return 1;
}

/* What a probe sees now: a message, or -1. */
static int o_look(struct oracle *o, int rank, const struct op *p)
{
    struct o_req want = {.rank = rank, .src = p->peer, .tag = p->tag, .comm = p->comm};

    return o_candidate(o, &want, -1);
}

static void o_log_probe(struct oracle *o, int rank, int m)
{
    struct log *l = &o->logs[rank];

    log_add(l, m >= 0);
    if (m >= 0) {
        log_add(l, o->msgs[m].src);
        log_add(l, o->msgs[m].tag);
        log_add(l, o->msgs[m].bytes);
    }
}

static void o_receive_message(struct oracle *o, int rank, int m)
{
    int r = o_recv(o, rank, o->msgs[m].src, o->msgs[m].tag, o->msgs[m].comm);

    o->ranks[rank].req[0] = r;
    o_match(o, &o->reqs[r], &o->msgs[m]);
}

static void o_cancel(struct oracle *o, int rank, const struct op *p)
{
    struct o_rank *k = &o->ranks[rank];
    struct o_req *r = &o->reqs[k->slot[p->slot]];

    if (r->posted) {
        r->posted = 0;
        r->cancelled = 1;
        r->complete = o->now;
        o_assign(o);
    }
    k->req[0] = k->slot[p->slot];
    k->slot[p->slot] = -1;
}

static int o_slot_busy(const struct oracle *o, int rank, const struct op *p)
{
    return o->ranks[rank].slot[p->slot] >= 0;
}

/* Operations that need no decision, at the rank's clock. 1 if something happened. */
static int o_act(struct oracle *o, int rank)
{
    struct o_rank *k = &o->ranks[rank];
    const struct op *p = &o->g->ops[rank][k->pc];

    if (k->done || k->clock > o->now)
        return 0;
    if (k->pc == o->g->count[rank])
        return k->done = 1;
    switch (p->kind) {
    case OP_COMPUTE:
        k->clock += p->arg;
        break;
    case OP_ISEND:
    case OP_ISSEND:
    case OP_IBSEND:
        if (!o_slot_busy(o, rank, p))
            k->slot[p->slot] = o_send(o, rank, p, p->kind);
        break;
    case OP_IRECV:
        if (!o_slot_busy(o, rank, p)) {
            k->slot[p->slot] = o_recv(o, rank, p->peer, p->tag, p->comm);
            o->reqs[k->slot[p->slot]].decision |= o->p->cancel;
        }
        break;
    case OP_SEND:
    case OP_RECV:
    case OP_SENDRECV:
        if (k->step == 0) {
            if (p->kind == OP_RECV)
                k->req[0] = o_recv(o, rank, p->peer, p->tag, p->comm);
            if (p->kind == OP_SENDRECV)
                k->req[0] = o_recv(o, rank, p->peer2, p->tag2, p->comm);
            if (p->kind != OP_RECV)
                k->req[1] = o_send(o, rank, p, OP_ISEND);
            k->step = 1;
            return 1;
        }
        if (!o_blocking(o, rank))
            return 0;
        break;
    case OP_WAIT:
        if (o_slot_busy(o, rank, p)) {
            if (!o_complete(o, k->slot[p->slot]))
                return 0;
            o_log_req(o, rank, k->slot[p->slot]);
            k->slot[p->slot] = -1;
        }
        break;
    case OP_WAITALL:
        if (!o_wait_all(o, rank, p))
            return 0;
        break;
    case OP_TEST:
    case OP_CANCEL:
        if (k->step == 0 &&
            (!o_slot_busy(o, rank, p) || (p->kind == OP_CANCEL && o->reqs[k->slot[p->slot]].send)))
            break;
        /* fallthrough */
    case OP_IPROBE:
    case OP_FETCH:
        if (k->step == 0) {
            k->clock += o->p->test_cost;
            k->step = 1;
            return 1;
        }
        if (k->step == 1 || !o_blocking(o, rank))
            return 0;
        break;
    case OP_MPROBE:
        if (k->step == 0 || !o_blocking(o, rank))
            return 0;
        break;
    default:
        return 0;
    }
    o_next(o, rank);
    return 1;
}

/* The decision of the call that the rank is in, if it can be taken now. */
static int o_decide_call(struct oracle *o, int rank)
{
    struct o_rank *k = &o->ranks[rank];
    const struct op *p = &o->g->ops[rank][k->pc];
    int m;

    if (k->done || k->clock > o->now)
        return 0;
    switch (p->kind) {
    case OP_WAITANY:
    case OP_WAITSOME:
        if (!o_wait_some(o, rank, p, p->kind == OP_WAITSOME))
            return 0;
        break;
    case OP_TEST:
        if (k->step != 1)
            return 0;
        m = o_complete(o, k->slot[p->slot]);
        log_add(&o->logs[rank], m);
        if (m) {
            o_log_req(o, rank, k->slot[p->slot]);
            k->slot[p->slot] = -1;
        }
        break;
    case OP_CANCEL:
        if (k->step != 1)
            return 0;
        o_cancel(o, rank, p);
        k->step = 2;
        return 1;
    case OP_PROBE:
    case OP_IPROBE:
    case OP_FETCH:
    case OP_MPROBE:
        if (k->step == 2 || (k->step == 0 && (p->kind == OP_IPROBE || p->kind == OP_FETCH)))
            return 0;
        m = o_look(o, rank, p);
        if (m < 0 && (p->kind == OP_PROBE || p->kind == OP_MPROBE))
            return 0;
        if (k->clock < o->now)
            k->clock = o->now;
        o_log_probe(o, rank, m);
        if (m < 0 || p->kind == OP_PROBE || p->kind == OP_IPROBE)
            break;
        o_receive_message(o, rank, m);
        k->step = 2;
        return 1;
    default:
        return 0;
    }
    o_next(o, rank);
    return 1;
}

static int o_anything(struct oracle *o)
{
    if (o_commit(o))
        return 1;
    for (int k = 0; k < o->p->ranks; k++)
        if (o_act(o, k))
            return 1;
    for (int k = 0; k < o->p->ranks; k++)
        if (o_decide_wild(o, k) || o_decide_call(o, k))
            return 1;
    return 0;
}

/* The next time at which anything can happen. */
static vtime o_later(const struct oracle *o)
{
    vtime next = VTIME_NEVER;

    for (int i = 0; i < o->msg_count; i++)
        if (!o->msgs[i].taken && o->msgs[i].arrival > o->now && o->msgs[i].arrival < next)
            next = o->msgs[i].arrival;
    for (int i = 0; i < o->req_count; i++)
        if (o->reqs[i].complete > o->now && o->reqs[i].complete < next)
            next = o->reqs[i].complete;
    for (int k = 0; k < o->p->ranks; k++)
        if (!o->ranks[k].done && o->ranks[k].clock > o->now && o->ranks[k].clock < next)
            next = o->ranks[k].clock;
    return next;
}

/* Runs the program; fills logs and clocks. Returns the number of ranks that came to their end. */
static int oracle_run(struct oracle *o, const struct params *p, const struct program *g,
                      struct log *logs, vtime *clocks)
{
    int done = 0;

    memset(o, 0, sizeof *o);
    o->p = p;
    o->g = g;
    o->logs = logs;
    for (int k = 0; k < p->ranks; k++) {
        logs[k].count = 0;
        o->ranks[k].req[0] = o->ranks[k].req[1] = -1;
        for (int i = 0; i < SLOTS; i++)
            o->ranks[k].slot[i] = -1;
    }
    for (; o->now != VTIME_NEVER; o->now = o_later(o))
        while (o_anything(o))
            ;
    for (int k = 0; k < p->ranks; k++) {
        done += o->ranks[k].done;
        clocks[k] = o->ranks[k].clock;
    }
    return done;
}

#endif
