/*
 * loggops.c - the LogGOPS model (Hoefler, Schneider, Lumsdaine: LogGOPSim, 2010) at both ends of a
 * message.
 *
 *     L  net.latency            o  mpi.send_overhead, mpi.recv_overhead
 *     g  net.gap                G  1 / net.bandwidth
 *     O  mpi.*_per_kib          S  mpi.eager_limit
 *
 *     a message of n bytes that is sent at t (after o + n O) begins to leave at
 *         u = max(t, time at which the sender's adapter has done with its earlier messages)
 *     the adapter is free at u + n G + g. The first byte is at the receiver's adapter at u + L; the
 *     last one has come in at
 *         c = max(u + L, time at which that adapter has done with earlier messages) + n G
 *     when the message arrives. The adapter is free at c + g, or c + o + n O if that is later and
 *     the receiver is alone on its node: then the same processor takes in the next message.
 *
 *     program   |o|  |o|                            |o|
 *     adapter     |=n G=|g|=n G=|g|         |=n G=|g|
 *     network     |<-- L -->|
 *
 * All ranks of a node share its adapter. Within a node L and G are those of net.intra, without g,
 * and each rank has an adapter to the memory of the node. All of them may depend on the size
 * piecewise (net.segments). LogGOPSim counts n - 1 bytes: net.free_bytes is 1. It does not matter
 * who sends: programs, rendezvous, non-blocking collectives, agents. Only protocol steps without
 * data pass by the adapters, in time L.
 *
 * What waits for what at an adapter is in adapters.c.
 */
#include "net/adapters.h"

#include "base/mem.h"

static int loggops_init(struct net *net, const struct platform *machine, struct err *err)
{
    net->lookahead = net_least_delay(net, 0) / 2; /* adapters.h */
    return adapters_init(net, machine->config.net_gap, machine->config.net_free_bytes, err);
}

static void loggops_fini(struct net *net)
{
    adapters_fini(net);
}

static vtime loggops_delay(const struct net *net, uint32_t src, uint32_t dst, uint64_t bytes,
                           vtime t)
{
    const struct net_piece *p = net_curve_at(net_curve(net, src, dst), bytes);

    (void)t;
    return vtime_add(p->latency, vtime_mul_q(bytes, p->ps_per_byte));
}

static const char *const uses[] = {
    "net.gap", "net.free_bytes", "net.intra.latency", "net.intra.bandwidth", "net.intra.segments",
    NULL,
};

const struct net_ops net_loggops_ops = {
    .name = "loggops",
    .uses = uses,
    .split = NET_SPLIT_MEDIA,
    .device = &device_adapters_ops,
    .init = loggops_init,
    .fini = loggops_fini,
    .delay = loggops_delay,
    .medium = adapters_medium,
};
