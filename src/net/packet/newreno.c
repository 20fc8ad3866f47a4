/*
 * newreno.c - congestion control of RFC 5681, "reno" in Linux: the window grows by a segment in
 * each round trip, and is halved by a loss.
 */
#include "net/packet/tcp.h"

static void on_ack(struct tcp_half *h, const struct tcp_ack_news *news)
{
    if (news->may_grow)
        tcp_grow(h, h->window, tcp_slow_start(h, news->arrived));
}

static uint32_t half(struct tcp_half *h, vtime now)
{
    (void)now;
    return h->window / 2 > 2 ? h->window / 2 : 2;
}

const struct tcp_congestion_ops tcp_newreno_ops = {
    .name = "newreno",
    .on_ack = on_ack,
    .on_loss = half,
    .on_ecn = half,
};
