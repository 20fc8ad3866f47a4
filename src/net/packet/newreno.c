/*
 * newreno.c - congestion control of RFC 5681: the window grows by a segment in each round trip, and
 * is halved by a loss.
 */
#include "net/packet/tcp.h"

static void grow(struct tcp_half *h, uint64_t acked, uint32_t mss, vtime now)
{
    (void)now;
    acked = tcp_slow_start(h, acked);
    h->fraction += acked * mss;
    h->window += h->fraction / h->window;
    h->fraction %= h->window;
}

static uint64_t reduce(struct tcp_half *h, uint32_t mss)
{
    uint64_t half = (h->next - h->base.acked) / 2;

    h->fraction = 0;
    return half > 2 * (uint64_t)mss ? half : 2 * (uint64_t)mss;
}

const struct tcp_congestion_ops tcp_newreno_ops = {
    .name = "newreno",
    .grow = grow,
    .reduce = reduce,
};
