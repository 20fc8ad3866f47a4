/*
 * constant.c - the constant model: every pair of ranks has the same latency and bandwidth, and
 * messages do not affect each other. It does not matter where the ranks are.
 *
 *     delay(bytes) = latency + bytes / bandwidth      from leaving the sender to arrival
 *     drain(bytes) =           bytes / bandwidth      while the sender's side is busy
 *
 *     sender    |== drain ==|
 *     network   |-- latency --|
 *     receiver                |== drain ==| arrival
 *
 * With net.segments, both depend on the size piecewise. The smallest delay, the latency, is the
 * lookahead.
 */
#include "net/net_internal.h"

static int constant_init(struct net *net, const struct platform *machine, struct err *err)
{
    (void)machine, (void)err;
    net->latency = net->inter.pieces[0].latency;
    net->ps_per_byte = net->inter.pieces[0].ps_per_byte;
    net->lookahead = net_curve_least_latency(&net->inter);
    if (net->inter.count == 1)
        net->device = &device_uniform_ops;
    return 0;
}

static vtime constant_delay(const struct net *net, uint32_t src, uint32_t dst, uint64_t bytes,
                            vtime t)
{
    const struct net_piece *p = net_curve_at(&net->inter, bytes);

    (void)src, (void)dst, (void)t;
    return vtime_add(p->latency, vtime_mul_q(bytes, p->ps_per_byte));
}

static const char *const uses[] = {NULL};

const struct net_ops net_constant_ops = {
    .name = "constant",
    .uses = uses,
    .instead = "loggops",
    .split = NET_SPLIT_FREE,
    .device = &device_formula_ops,
    .init = constant_init,
    .delay = constant_delay,
};
