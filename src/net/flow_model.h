/*
 * flow_model.h - the flow model's state, for flow.c (entering, events) and flow_exit.c (leaving).
 *
 * Speed: there are many messages, each somewhere else in memory, so cache misses dominate. Messages
 * are therefore handled in batches - submitted ones find their pairs, due ones start, those that
 * have left go out - and each batch prefetches the memory of the next ones.
 */
#ifndef NET_FLOW_MODEL_H
#define NET_FLOW_MODEL_H

#include "base/map.h"
#include "base/pool.h"
#include "net/submissions.h"
#include "net/flow_solver.h"
#include "net/net_internal.h"
#include "net/topology/topology.h"

struct flow_pair;

/* A message in the network. */
struct flow_parcel {
    struct engine_msg *msg;
    struct flow_pair *pair;   /* NULL: it keeps no order, or has not joined yet */
    struct flow_parcel *next; /* in the pair */
    uint64_t bytes;
    uint64_t cookie; /* of the notice; 0: none */
    uint64_t order;  /* engine_call.order */
    vtime latency;   /* of its route */
    vtime arrival;   /* once it has left; -1: not yet */
};

/* Messages between two ranks that keep their order. */
struct flow_pair {
    uint64_t key, order;
    struct flow_pair *other; /* of the same two ranks, with another order; or NULL */
    struct flow_parcel *head, *tail;
    vtime last;       /* arrival of the last that went out */
    uint32_t in_ring; /* how often it is in the ring of idle pairs */
};

/* A message whose last byte has left, and when. */
struct flow_gone {
    struct flow_parcel *parcel;
    vtime t;
};

/* Pairs without messages, in the order in which they became idle. */
struct flow_idle {
    struct flow_pair *pair;
    vtime last;
};

struct flow_model {
    struct net *net;
    struct engine *engine;
    struct flow_solver *solver;
    double nic, memory;       /* bytes per picosecond */
    int limited;              /* net.segments limit messages beside the links */
    vtime now;                /* of the last event */
    struct submissions queue; /* submitted, not started: parcels */
    uint32_t joined;          /* how many fresh entries of the queue have joined their pairs */
    uint32_t change;          /* the next change of a link (topo_change) */
    uint64_t parcels;         /* number of parcels so far, for the choice of routes */
    uint64_t flying;          /* flows */
    uint64_t notices;
    struct map pairs;       /* (source, destination) -> the first struct flow_pair */
    struct flow_idle *idle; /* ring */
    uint64_t idle_head, idle_tail, idle_room;
    struct flow_gone *gone; /* messages that have left during an advance */
    uint32_t gone_count, gone_room;
    /* Free blocks, in an array: following a list through them would miss the cache each time. */
    void **spare;
    uint32_t spare_count, spare_room;
    struct pool pool; /* blocks of one cache line */
    struct topo_route route;
};

#define FLOW_AHEAD 8  /* messages of a batch to prefetch ahead */
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

/* Appends a parcel that keeps an order to those with the same order between these two ranks. */
void flow_pair_join(struct flow_model *, struct flow_parcel *, uint64_t key);

/* Its last byte has left at t: it goes out as soon as the order allows. */
void flow_leave(struct flow_model *, struct flow_parcel *, vtime t);

/* Defers flow_leave until all events of the advance have been handled; handles the deferred
 * ones. */
void flow_leave_later(struct flow_model *, struct flow_parcel *, vtime t);
void flow_leave_all(struct flow_model *);

void flow_exit_init(struct flow_model *);
void flow_exit_fini(struct flow_model *);

#endif
