/*
 * Random point-to-point programs for prop_match.c: what each rank does, and the log of what it saw.
 *
 * A program is a list of operations per rank. Requests live in slots. A program may deadlock: then
 * the simulator and the oracle must deadlock with the same logs and clocks.
 */
#ifndef MATCH_PROGRAM_H
#define MATCH_PROGRAM_H

#include <stdint.h>
#include <stdio.h>

#include "base/rng.h"
#include "base/vtime.h"

enum { RANKS_MAX = 6, OPS_MAX = 96, SLOTS = 24, COMMS = 2, LOG_MAX = 2048, BYTES_MAX = 1000 };
enum { ANY = -2, ANY_TAG = -1 }; /* source, tag */

enum op_kind {
    OP_COMPUTE, /* arg: time */
    OP_ISEND,
    OP_ISSEND,
    OP_IBSEND,
    OP_SEND,
    OP_IRECV,
    OP_RECV,
    OP_SENDRECV, /* to peer with tag, from peer2 with tag2 */
    OP_WAIT,
    OP_WAITALL, /* of the slots in mask */
    OP_WAITANY,
    OP_WAITSOME,
    OP_TEST,
    OP_IPROBE,
    OP_PROBE,
    OP_MPROBE, /* and Mrecv */
    OP_FETCH,  /* Iprobe, and if there is one, receive it */
    OP_CANCEL, /* and wait for it */
    OP_KINDS,
};

static const char *const op_names[OP_KINDS] = {
    "compute", "isend",   "issend",   "ibsend", "send",   "irecv", "recv",   "sendrecv", "wait",
    "waitall", "waitany", "waitsome", "test",   "iprobe", "probe", "mprobe", "fetch",    "cancel",
};

struct op {
    int kind;
    int peer, tag, comm, slot;
    int peer2, tag2;
    uint32_t mask;
    uint32_t bytes, bytes2;
    uint64_t id; /* of the message it sends; written into the payload */
    vtime arg;
};

struct log {
    int count;
    int64_t at[LOG_MAX];
};

/* The machine and which operations may appear. */
struct params {
    uint64_t seed;
    int ranks;
    vtime latency;
    double bandwidth; /* bits per second, may be infinite */
    vtime send_overhead, recv_overhead, test_cost;
    int cancel; /* with MPI_Cancel */
    int polls, wildcards;
};

struct program {
    int count[RANKS_MAX];
    struct op ops[RANKS_MAX][OPS_MAX];
};

enum { EAGER_LIMIT = 64 };

static void log_add(struct log *l, int64_t value)
{
    if (l->count < LOG_MAX)
        l->at[l->count++] = value;
}

static uint32_t random_bytes(struct rng *r, int large)
{
    static const uint32_t sizes[] = {0, 8, 24, 63, 64, 65, 100, 1000};

    return sizes[rng_below(r, large ? 8 : 5)];
}

static void random_message(struct rng *r, const struct params *p, struct op *o)
{
    o->peer = (int)rng_below(r, (uint64_t)p->ranks);
    o->tag = (int)rng_below(r, 3);
    o->comm = rng_below(r, 4) == 0;
    o->bytes = random_bytes(r, 1);
}

static void random_pattern(struct rng *r, const struct params *p, struct op *o)
{
    o->peer = p->wildcards && rng_below(r, 2) ? ANY : (int)rng_below(r, (uint64_t)p->ranks);
    o->tag = rng_below(r, 3) == 0 ? ANY_TAG : (int)rng_below(r, 3);
    o->comm = rng_below(r, 4) == 0;
}

static int random_kind(struct rng *r, const struct params *p)
{
    static const int busy[] = {OP_COMPUTE,  OP_COMPUTE,  OP_ISEND,  OP_ISEND,  OP_ISEND, OP_ISSEND,
                               OP_IBSEND,   OP_SEND,     OP_SEND,   OP_IRECV,  OP_IRECV, OP_IRECV,
                               OP_IRECV,    OP_TEST,     OP_IPROBE, OP_FETCH,  OP_FETCH, OP_WAITANY,
                               OP_WAITSOME, OP_WAIT,     OP_CANCEL, OP_CANCEL, OP_PROBE, OP_MPROBE,
                               OP_RECV,     OP_SENDRECV, OP_WAITALL};
    for (;;) {
        int kind = busy[rng_below(r, sizeof busy / sizeof *busy)];
        int polls = kind == OP_TEST || kind == OP_IPROBE || kind == OP_FETCH;
        int blocks = kind == OP_WAIT || kind == OP_PROBE || kind == OP_MPROBE || kind == OP_RECV ||
                     kind == OP_WAITALL || kind == OP_SENDRECV;
        int some = kind == OP_WAITANY || kind == OP_WAITSOME;

        if (kind == OP_CANCEL && !p->cancel)
            continue;
        if ((polls && !p->polls) || (blocks && rng_below(r, 12)) || (some && rng_below(r, 4)))
            continue;
        return kind;
    }
}

static vtime random_time(struct rng *r, const struct params *p)
{
    vtime unit = p->latency ? p->latency : 1000;

    return rng_below(r, 3) == 0 ? 0 : (vtime)rng_below(r, (uint64_t)(2 * unit));
}

static void random_op(struct rng *r, const struct params *p, struct op *o, uint64_t id)
{
    *o = (struct op){.kind = random_kind(r, p), .id = id, .slot = (int)rng_below(r, SLOTS)};
    o->mask = (uint32_t)rng_next(r) & ((1u << SLOTS) - 1);
    o->arg = random_time(r, p);
    switch (o->kind) {
    case OP_ISEND:
    case OP_ISSEND:
    case OP_IBSEND:
        random_message(r, p, o);
        break;
    case OP_SEND:
        random_message(r, p, o);
        o->bytes = random_bytes(r, rng_below(r, 8) == 0);
        break;
    case OP_SENDRECV:
        random_pattern(r, p, o);
        o->peer2 = o->peer;
        o->tag2 = o->tag;
        {
            int comm = o->comm;
            random_message(r, p, o);
            o->comm = comm;
        }
        break;
    default:
        random_pattern(r, p, o);
        break;
    }
}

/* Random operations, then fetching what is left, then waiting for the sends. */
static void program_make(struct program *g, const struct params *p)
{
    struct rng r;

    rng_seed(&r, p->seed);
    for (int k = 0; k < p->ranks; k++) {
        int n = 5 + (int)rng_below(&r, 40), fetches = p->polls ? 30 : 0;

        for (int i = 0; i < n; i++)
            random_op(&r, p, &g->ops[k][i], (uint64_t)(k + 1) << 32 | (uint64_t)(i + 1));
        for (int i = 0; i < fetches; i++) {
            struct op o = {.kind = i % 4 == 3 ? OP_COMPUTE : OP_FETCH,
                           .peer = ANY,
                           .tag = ANY_TAG,
                           .comm = i % 2,
                           .arg = (vtime)rng_below(&r, 2 * (uint64_t)p->latency + 1000)};
            g->ops[k][n++] = o;
        }
        g->count[k] = n;
    }
}

__attribute__((unused)) static void program_print(const struct program *g, const struct params *p)
{
    printf("# seed %llu ranks %d latency %lld bandwidth %g overheads %lld %lld test %lld\n",
           (unsigned long long)p->seed, p->ranks, (long long)p->latency, p->bandwidth,
           (long long)p->send_overhead, (long long)p->recv_overhead, (long long)p->test_cost);
    for (int k = 0; k < p->ranks; k++)
        for (int i = 0; i < g->count[k]; i++) {
            const struct op *o = &g->ops[k][i];
            printf("#   rank %d op %d: %s peer %d tag %d comm %d slot %d bytes %u arg %lld mask %x "
                   "from %d tag %d\n",
                   k, i, op_names[o->kind], o->peer, o->tag, o->comm, o->slot, o->bytes,
                   (long long)o->arg, o->mask, o->peer2, o->tag2);
        }
}

#endif
