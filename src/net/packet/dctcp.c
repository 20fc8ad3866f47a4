/*
 * dctcp.c - congestion control of data centres (RFC 8257), as Linux has it: the receiver echoes the
 * mark of each packet, and the window falls by half of the share of packets that have one. So a
 * queue stays near the length at which packets are marked. A loss halves the window.
 *
 *     alpha = 15/16 alpha + 1/16 of the share of marked segments, once in each window of data
 */
#include "net/packet/tcp.h"

#define WHOLE 1024u /* alpha if all are marked */
#define SHIFT 4     /* alpha moves by 1/16 */

static void init(struct tcp_half *h, vtime now)
{
    (void)now;
    h->dctcp = (struct tcp_dctcp){.alpha = WHOLE, .end = h->next};
}

static void end_window(struct tcp_half *h)
{
    struct tcp_dctcp *d = &h->dctcp;
    uint32_t less = d->alpha >> SHIFT, arrived = d->arrived > 0 ? d->arrived : 1;
    uint64_t share = (uint64_t)d->marked * WHOLE / arrived;

    d->alpha -= less > 0 ? less : d->alpha; /* so that it becomes 0 */
    d->alpha += (uint32_t)(share >> SHIFT);
    if (d->alpha > WHOLE)
        d->alpha = WHOLE;
    d->arrived = d->marked = 0;
    d->end = h->next;
}

static void on_ack(struct tcp_half *h, const struct tcp_ack_news *news)
{
    struct tcp_dctcp *d = &h->dctcp;

    d->arrived += news->arrived;
    if (news->is_echo)
        d->marked += news->arrived;
    if (h->base.acked >= d->end)
        end_window(h);
    if (news->may_grow)
        tcp_grow(h, h->window, tcp_slow_start(h, news->arrived));
}

static uint32_t on_loss(struct tcp_half *h, vtime now)
{
    (void)now;
    return h->window / 2 > 2 ? h->window / 2 : 2;
}

static uint32_t on_ecn(struct tcp_half *h, vtime now)
{
    (void)now;
    uint32_t left = h->window - (uint32_t)((uint64_t)h->window * h->dctcp.alpha / (2 * WHOLE));

    return left > 2 ? left : 2;
}

const struct tcp_congestion_ops tcp_dctcp_ops = {
    .name = "dctcp",
    .echoes_each = 1,
    .init = init,
    .on_ack = on_ack,
    .on_loss = on_loss,
    .on_ecn = on_ecn,
};
