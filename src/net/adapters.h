/*
 * adapters.h - what connects nodes to a network without contention: each adapter sends one message
 * at a time, and receives one at a time. The network between them delivers after its latency.
 *
 * A message passes two adapters, and at each the order of time decides who waits for whom:
 *
 *     submitted at t -> leaves its sender's adapter from u on -> reaches the other one at u + L
 *                       (first stage)                            (second stage)
 *
 * The adapters are a medium of the engine (engine/medium.h), but one that exists on every process,
 * for adapters that have their home there: that of a node is with its first rank. Nothing in it is
 * global: adapters do not know each other. With the lookahead l, at most half of the least latency
 * of a message, the event of the first stage is at t, and that of the second at u + L - l. So
 *
 *     what is submitted because of an event at x       has its event at x + l or later
 *     what leaves an adapter because of an event at x  reaches the other one at x + l or later
 *
 * and all events of an interval of length l can be handled adapter by adapter, in any order of
 * adapters, on all processes at the same time. Events at one adapter are ordered by (time, source,
 * kind of source, order of sending), which no schedule changes.
 *
 * The first stage needs no event if nothing can be sent before that is not there yet: the rank is
 * alone on its node, and the program itself sends, which nothing else does for it
 * (device_send.alone). Nearly all messages of most programs are of that kind.
 */
#ifndef NET_ADAPTERS_H
#define NET_ADAPTERS_H

#include "net/net_internal.h"

/* Sets net->state. The lookahead is set. */
int adapters_init(struct net *, vtime gap, uint64_t free_bytes, struct err *);
void adapters_fini(struct net *);

/* As in struct net_ops. */
void adapters_medium(struct net *, struct engine *, struct engine_medium *);

#endif
