/*
 * overcommit.h - does a node send faster than its link allows? Models without contention let it;
 * this proves that they did.
 *
 * The proof is a set of messages of one rank that all left their node within an interval which is
 * shorter than the link needs for their bytes. Whatever set is looked at, it is never wrong; which
 * sets are looked at depends on the program alone, not on when its ranks happen to run:
 *
 *     sent by the program, in its order    those that keep a link busy which takes them one after
 *                                          the other
 *     waited for together                  all of them
 *
 * Other ranks of the node, which share the link, are not counted, nor are messages within a node.
 * An overcommitment that makes less of a difference than a latency is none.
 */
#ifndef NET_OVERCOMMIT_H
#define NET_OVERCOMMIT_H

#include <stdint.h>

#include "base/vtime.h"

struct net;

/* Ranks from this number on are not watched: those of large runs resemble each other. */
#define NET_OVERCOMMIT_RANKS 262144u

/* What a rank sent so that the bytes need `needs` on the link of its node, and took `took`. */
struct net_overcommit_found {
    uint32_t ranks; /* how many did that; 0: none */
    uint32_t rank;  /* the one that did it most */
    vtime at;       /* when it began */
    vtime took, needs;
};

/* Messages that a rank waits for together. */
struct net_overcommit_set {
    vtime begin, end;
    vtime needs; /* 0: it is empty */
};

struct net_burst;

struct net_overcommit {
    uint64_t least;       /* messages of fewer bytes do not count; UINT64_MAX: none do */
    uint64_t ps_per_byte; /* of the link, 44.20 */
    vtime latency;        /* the least between two nodes */
    vtime tolerated;
    uint32_t ranks;           /* those below are watched */
    struct net_burst *bursts; /* of each of them */
    struct net_overcommit_found found;
};

/* The curves are set. Nothing is watched if the model has contention, or links are infinitely
 * fast. */
void net_overcommit_init(struct net *);
void net_overcommit_fini(struct net *);

/* The program of rank src has sent a message at t. */
void net_overcommit_sent(struct net *, uint32_t src, uint32_t dst, uint64_t bytes, vtime t,
                         vtime arrival);

/* Adds a message that left its node between `begin` and `end`. */
void net_overcommit_add(const struct net *, struct net_overcommit_set *, uint32_t src, uint32_t dst,
                        uint64_t bytes, vtime begin, vtime end);
/* All of the set have been added. */
void net_overcommit_judge(struct net *, uint32_t src, const struct net_overcommit_set *);

/* Adds what another process has found. */
void net_overcommit_merge(struct net_overcommit_found *, const struct net_overcommit_found *);

#endif
