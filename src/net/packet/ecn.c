/*
 * ecn.c - a queue that marks packets instead of dropping them (RFC 3168), if their transport
 * understands marks: all that find more than net.packet.mark_above in the queue, as switches in
 * data centres do. What does not fit is dropped.
 */
#include "net/packet/packet_internal.h"

static enum packet_verdict admit(struct packet_net *n, struct packet_port *port,
                                 const struct packet *p, vtime now)
{
    const struct platform_config *c = &n->machine->config;

    if (now < port->free_at && port->queued + p->wire > c->packet_queue)
        return PACKET_REFUSE;
    return p->flags & PACKET_CAN_MARK && port->queued > c->packet_mark_above ? PACKET_MARK
                                                                             : PACKET_TAKE;
}

static void enqueue(struct packet_net *n, struct packet *p, vtime now)
{
    packet_queue_enqueue(n, p, now, admit);
}

static const char *const uses[] = {"net.packet.queue", "net.packet.mark_above", NULL};

const struct packet_fabric_ops packet_ecn_ops = {
    .name = "ecn",
    .uses = uses,
    .init = packet_queue_init,
    .enqueue = enqueue,
};
