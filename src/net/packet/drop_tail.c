/*
 * drop_tail.c - a queue that drops what does not fit.
 */
#include "net/packet/packet_internal.h"

static enum packet_verdict admit(struct packet_net *n, struct packet_port *port,
                                 const struct packet *p, vtime now)
{
    int fits = now >= port->free_at || port->queued + p->wire <= n->machine->config.packet_queue;

    return fits ? PACKET_TAKE : PACKET_REFUSE;
}

static void enqueue(struct packet_net *n, struct packet *p, vtime now)
{
    packet_queue_enqueue(n, p, now, admit);
}

static const char *const uses[] = {"net.packet.queue", NULL};

const struct packet_fabric_ops packet_drop_tail_ops = {
    .name = "drop-tail",
    .uses = uses,
    .init = packet_queue_init,
    .enqueue = enqueue,
};
