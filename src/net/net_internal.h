/*
 * net_internal.h - the models, for the table in net.c, and what they share. Never included outside
 * net/.
 */
#ifndef NET_NET_INTERNAL_H
#define NET_NET_INTERNAL_H

#include "net/net.h"

extern const struct net_ops net_constant_ops;
extern const struct net_ops net_loggops_ops;
extern const struct net_ops net_hops_ops;
extern const struct net_ops net_flow_ops;
extern const struct net_ops net_packet_ops;

/* The device of models without contention; direct messages of the others are sent in the same
 * way. */
struct device_sent device_formula_send(struct device *, struct engine_msg *,
                                       const struct device_send *);

/* The smallest delay of a message, given the least latency between two nodes in addition to that of
 * the curve. On a node of its own, a rank's messages to itself do not count if the rank itself
 * orders them: it sends them at once, without a medium, and never continues before a time for which
 * it has decided. */
vtime net_least_delay(const struct net *, vtime links);

/* Are all messages within a node those of a rank to itself? Spawned ranks may share nodes. */
int net_has_lone_ranks(const struct net *);

/* The latency of a shortest route between two nodes; ends the run if there is none. */
vtime net_distance(const struct net *, uint32_t src, uint32_t dst);

/* The delay of a message on an idle network, for models with contention: the latency of a shortest
 * route, and the bytes at the rate of the curve. */
vtime net_idle_delay(const struct net *, uint32_t src, uint32_t dst, uint64_t bytes, vtime t);

#endif
