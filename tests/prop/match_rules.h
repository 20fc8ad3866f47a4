/*
 * match_rules.h - which message goes to which receive, as the oracle of prop_match.c sees it
 * (match_oracle.h).
 */
#ifndef MATCH_RULES_H
#define MATCH_RULES_H

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
    vtime cost;     /* what the rank spends on it when it takes it */
    int cancelled;
    int got_src, got_tag;
    uint32_t bytes;
    uint64_t id;
};

enum { WAITS = 4 };

struct o_rank {
    vtime clock;
    int pc, step;    /* step: how far inside the operation */
    int slot[SLOTS]; /* request or -1 */
    int req[2];      /* of the blocking operation in progress */
    int msg;
    int done;
    struct {
        vtime from, to;
    } waits[WAITS]; /* when it waited lately, the last one first */
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
    r->complete = o->now;
    r->cost = o->p->recv_overhead;
    if (m->sync)
        o->reqs[m->sender].complete = back;
    if (m->rts) {
        o->reqs[m->sender].complete = back + o_drain(o, m->bytes);
        r->complete = back + o_delay(o, m->bytes);
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

#endif
