/*
 * The constant model: every pair of ranks has the same latency and bandwidth, and messages do not
 * disturb each other.
 *
 *     delay(bytes) = latency + bytes / bandwidth      from leaving the sender to arrival
 *     drain(bytes) =           bytes / bandwidth      the sender's side is busy
 *
 *     sender    |== drain ==|
 *     network   |-- latency --|
 *     receiver                |== drain ==| arrival
 *
 * All in integers: the inverse bandwidth is kept in 2^-20 ps per byte, so 1 Gbit/s (8000 ps per
 * byte) is exact and 100 Gbit/s (80 ps) too; the rounding of other values is below 10^-6 ps per
 * byte. The smallest delay is the latency: that is the lookahead.
 */
#include <math.h>

#include "net/net_internal.h"

/* Picoseconds to send 8 bits at 1 bit/s, in 2^-20 ps. */
#define SCALE (8e12 * 1048576.0)

static int constant_init(struct net *net, const struct platform_config *config, struct err *err)
{
    double bandwidth = config->net_bandwidth * config->net_bandwidth_factor;
    vtime latency = vtime_scale(config->net_latency, config->net_latency_factor);
    double inverse = isinf(bandwidth) ? 0 : SCALE / bandwidth;
    if (latency >= VTIME_LIMIT)
        return err_set(err, ERR_INPUT,
                       "net.latency: latency times net.latency_factor is beyond 53 days");
    if (!(inverse < 0x1p63))
        return err_set(err, ERR_INPUT,
                       "net.bandwidth: bandwidth times net.bandwidth_factor is below 1 bit/s");
    net->latency = latency;
    net->ps_per_byte = (uint64_t)llround(inverse);
    net->lookahead = latency;
    net->uniform = 1;
    return 0;
}

static vtime constant_drain(const struct net *net, uint32_t src, uint32_t dst, uint64_t bytes)
{
    (void)src, (void)dst;
    return vtime_mul_q(bytes, net->ps_per_byte);
}

static vtime constant_delay(const struct net *net, uint32_t src, uint32_t dst, uint64_t bytes)
{
    return vtime_add(net->latency, constant_drain(net, src, dst, bytes));
}

const struct net_ops net_constant_ops = {
    .name = "constant",
    .about = "latency + size / bandwidth, without contention",
    .split = NET_SPLIT_FREE,
    .init = constant_init,
    .delay = constant_delay,
    .drain = constant_drain,
};
