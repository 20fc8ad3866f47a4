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

#include "match_rules.h"

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

/* The rank takes a request that is complete. What it costs is paid first with time in which the
 * rank waited for something else after the message had come, beginning with the oldest of its last
 * few waits. */
static void o_take(struct oracle *o, int rank, struct o_req *r)
{
    struct o_rank *k = &o->ranks[rank];

    if (k->clock < r->complete) {
        memmove(&k->waits[1], &k->waits[0], (WAITS - 1) * sizeof k->waits[0]);
        k->waits[0].from = k->clock;
        k->waits[0].to = k->clock = r->complete;
    } else {
        for (int i = WAITS - 1; i >= 0; i--) {
            vtime begin = r->complete > k->waits[i].from ? r->complete : k->waits[i].from;
            vtime spent = k->waits[i].to - begin < r->cost ? k->waits[i].to - begin : r->cost;

            if (spent <= 0)
                continue;
            k->waits[i].from = begin + spent;
            r->cost -= spent;
        }
    }
    k->clock += r->cost;
    r->cost = 0;
}

/* Takes several in the order in which their messages have come: those that cost something. */
static void o_take_all(struct oracle *o, int rank, const int *reqs, int count)
{
    for (;;) {
        struct o_req *first = NULL;

        for (int i = 0; i < count; i++) {
            struct o_req *r = reqs[i] < 0 ? NULL : &o->reqs[reqs[i]];

            if (r && r->cost && r->complete <= o->now && (!first || r->complete < first->complete))
                first = r;
        }
        if (!first)
            return;
        o_take(o, rank, first);
    }
}

static void o_log_req(struct oracle *o, int rank, int req)
{
    struct o_req *r = &o->reqs[req];
    struct log *l = &o->logs[rank];

    o_take(o, rank, r);
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
    int live = 0, done = 0, slots[SLOTS];

    for (int i = 0; i < SLOTS; i++)
        if ((p->mask >> i & 1) && k->slot[i] >= 0) {
            live++;
            done += o_complete(o, k->slot[i]);
        }
    if (live && !done)
        return 0;
    for (int i = 0; i < SLOTS; i++)
        slots[i] = p->mask >> i & 1 ? k->slot[i] : -1;
    if (all)
        o_take_all(o, rank, slots, SLOTS);
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
    int slots[SLOTS];

    for (int i = 0; i < SLOTS; i++)
        if ((p->mask >> i & 1) && k->slot[i] >= 0 && !o_complete(o, k->slot[i]))
            return 0;
    for (int i = 0; i < SLOTS; i++)
        slots[i] = p->mask >> i & 1 ? k->slot[i] : -1;
    o_take_all(o, rank, slots, SLOTS);
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
