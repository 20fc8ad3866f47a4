/*
 * credit.c - a fabric that drops nothing: a port sends a packet only if the buffer at the other end
 * of the link has room for it (credits), as InfiniBand does. When a packet has left that buffer,
 * its room is reported back, which takes the delay of the link.
 */
#include "net/packet/lossless.h"

static int may_send(struct packet_net *n, struct packet_port *port, struct packet_channel *c,
                    vtime now)
{
    (void)n, (void)port;
    while (c->returns.len > 0 && c->returns.at[0].t <= now)
        c->free += packet_credits_pop(&c->returns).bytes;
    return c->free >= c->head->wire;
}

static vtime next(const struct packet_port *port, const struct packet_channel *c)
{
    (void)port;
    return c->returns.len > 0 ? c->returns.at[0].t : VTIME_NEVER;
}

static void sent(struct packet_channel *c, const struct packet *p)
{
    c->free -= p->wire;
}

static void left(struct packet_net *n, struct packet_port *port, struct packet_channel *c,
                 const struct packet *p, vtime end)
{
    vtime t = vtime_add(end, port->delay);

    packet_credits_push(&c->returns, (struct packet_credit){t, p->wire});
    if (port->is_blocked)
        packet_port_wake(n, port, t);
}

static const struct packet_flow_ops flow = {
    .may_send = may_send,
    .next = next,
    .sent = sent,
    .left = left,
};

/* It never occupied the buffer at the end of the link. */
static void lose(struct packet_net *n, struct packet *p, vtime now)
{
    struct packet_port *port = p->route->ports[p->hop];

    if (!port->is_last)
        left(n, port, &port->channels[p->channel], p, now);
}

static const char *const uses[] = {"net.packet.buffer",     "net.packet.channels",
                                   "net.packet.red_low",    "net.packet.red_high",
                                   "net.packet.red_chance", NULL};

const struct packet_fabric_ops packet_credit_ops = {
    .name = "credit",
    .uses = uses,
    .flow = &flow,
    .init = packet_lossless_init,
    .enqueue = packet_lossless_enqueue,
    .advance = packet_lossless_advance,
    .lose = lose,
};
