/*
 * flow_model.h - the flow model's state, for flow.c (the way in, events) and flow_exit.c (the way out).
 *
 * Speed. Messages are many and each is in a place of its own, so what counts are the waits for memory.
 * They are dealt with in batches - those submitted find their pairs, those due start, those that have left
 * go out - in each of which the memory of the next ones is fetched ahead.
 */
#ifndef NET_FLOW_MODEL_H
#define NET_FLOW_MODEL_H

#include "base/map.h"
#include "base/pool.h"
#include "net/flow_queue.h"
#include "net/flow_solver.h"
#include "net/net_internal.h"
#include "net/topology/topology.h"

struct flow_pair;

/* A message in the network. */
struct flow_parcel {
    struct engine_msg *msg;
    struct flow_pair *pair;   /* NULL: it has no order to keep, or has not joined yet */
    struct flow_parcel *next; /* in the pair */
    uint64_t bytes;
    uint64_t cookie; /* of the notice; 0: none */
    uint64_t order;  /* engine_call.order */
    vtime latency;   /* of its way */
    vtime arrival;   /* once it has left; -1: it has not */
};

/* Messages between two ranks that keep their order. */
struct flow_pair {
    uint64_t key, order;
    struct flow_pair *other; /* of the same two ranks, with another order; or NULL */
    struct flow_parcel *head, *tail;
    vtime last;       /* arrival of the last that went out */
    uint32_t in_ring; /* how often it stands among the idle ones */
};

/* One whose last byte has left, and when. */
struct flow_gone {
    struct flow_parcel *parcel;
    vtime t;
};

/* Pairs without messages, in the order in which they became so. */
struct flow_idle {
    struct flow_pair *pair;
    vtime last;
};

struct flow_model {
    struct net *net;
    struct engine *engine;
    struct flow_solver *solver;
    double nic, memory;      /* bytes per picosecond */
    int limited;             /* net.segments limit messages beside the links */
    vtime now;               /* of the last event */
    struct flow_queue queue; /* submitted, not started: parcels */
    uint32_t joined; /* of the fresh entries of the queue, those that have looked for their pairs */
    uint32_t change; /* of links (topo_change): the next one */
    uint64_t parcels; /* drawn for the choice of ways */
    uint64_t flying;  /* flows */
    uint64_t notices;
    struct map pairs;       /* (source, destination) -> the first struct flow_pair */
    struct flow_idle *idle; /* ring */
    uint64_t idle_head, idle_tail, idle_room;
    struct flow_gone *gone; /* what has left during an advance */
    uint32_t gone_count, gone_room;
    void **spare; /* free blocks: not in a list through them, which would wait for each */
    uint32_t spare_count, spare_room;
    struct pool pool; /* blocks of one cache line */
    struct topo_route route;
};

#define FLOW_AHEAD 8  /* messages of a batch whose memory is fetched ahead */
#define FLOW_BLOCK 64 /* in the pool */

_Static_assert(sizeof(struct flow_parcel) <= FLOW_BLOCK && sizeof(struct flow_pair) <= FLOW_BLOCK,
               "one cache line");

static inline uint64_t flow_pair_key(uint32_t src, uint32_t dst)
{
    return (uint64_t)src << 32 | dst;
}

/* ---- flow_exit.c ---- */

/* A parcel or a pair. */
void *flow_block_new(struct flow_model *);

/* The parcel, which has an order to keep, goes behind all others of it between these two ranks. */
void flow_pair_join(struct flow_model *, struct flow_parcel *, uint64_t key);

/* Its last byte has left at t: it goes out as soon as its order allows. */
void flow_leave(struct flow_model *, struct flow_parcel *, vtime t);

/* The same, when all events of the advance have been handled; and that is now. */
void flow_leave_later(struct flow_model *, struct flow_parcel *, vtime t);
void flow_leave_all(struct flow_model *);

void flow_exit_init(struct flow_model *);
void flow_exit_fini(struct flow_model *);

#endif
