/*
 * loggops.c - the LogGOPS model (Hoefler, Schneider, Lumsdaine: LogGOPSim, 2010), without an event
 * queue: the sender's side is exact; contention at the receiver is not modelled.
 *
 *     L  net.latency            o  mpi.send_overhead, mpi.recv_overhead
 *     g  net.gap                G  1 / net.bandwidth
 *     O  mpi.*_per_kib          S  mpi.eager_limit
 *
 *     a message of n bytes that a program sends at t (after o + n O) leaves at
 *         u = max(t, time at which the rank's last message allows it)
 *     the next one may leave at u + g + n G; this one arrives at
 *         u + L + n G
 *     and is received with o + n O.
 *
 *     program   |o|  |o|
 *     adapter     |=n G=|g|=n G=|g|
 *     arrival               |<- L ->|
 *
 * Within a node, L and G are those of net.intra. All of them may depend on the size piecewise
 * (net.segments). Data that the network moves in response to a receive (rendezvous), and what
 * non-blocking collectives send, are not sends of the program in its own order, and do not wait for
 * others.
 */
#include "net/net_internal.h"

#include "base/mem.h"

struct loggops {
    vtime gap;
    size_t bytes;
    vtime free_at[]; /* per rank of this process: when its next message may leave */
};

static int loggops_init(struct net *net, const struct platform *machine, struct err *err)
{
    size_t bytes = sizeof(struct loggops) + (size_t)net->ranks * sizeof(vtime);
    struct loggops *s = mem_map(bytes, 1); /* touched only where ranks of this process send */

    if (!s)
        return err_set(err, ERR_MEMORY, "cannot reserve memory for %u ranks", net->ranks);
    s->gap = machine->config.net_gap;
    s->bytes = bytes;
    net->state = s;
    net->lookahead = net_least_delay(net, 0);
    return 0;
}

static void loggops_fini(struct net *net)
{
    mem_unmap(net->state, ((struct loggops *)net->state)->bytes);
}

static vtime loggops_delay(const struct net *net, uint32_t src, uint32_t dst, uint64_t bytes,
                           vtime t)
{
    const struct net_piece *p = net_curve_at(net_curve(net, src, dst), bytes);

    (void)t;
    return vtime_add(p->latency, vtime_mul_q(bytes, p->ps_per_byte));
}

static vtime loggops_arrival(struct net *net, uint32_t index, uint32_t src, uint32_t dst,
                             uint64_t bytes, vtime t)
{
    struct loggops *s = net->state;
    const struct net_piece *p = net_curve_at(net_curve(net, src, dst), bytes);
    vtime *free_at = &s->free_at[index], left;

    if (*free_at > t)
        t = *free_at;
    left = vtime_add(t, vtime_mul_q(bytes, p->ps_per_byte));
    *free_at = vtime_add(left, s->gap);
    return vtime_add(left, p->latency);
}

static const char *const uses[] = {
    "net.gap", "net.intra.latency", "net.intra.bandwidth", "net.intra.segments", NULL,
};

const struct net_ops net_loggops_ops = {
    .name = "loggops",
    .uses = uses,
    .split = NET_SPLIT_FREE,
    .device = &device_formula_ops,
    .init = loggops_init,
    .fini = loggops_fini,
    .delay = loggops_delay,
    .arrival = loggops_arrival,
};
