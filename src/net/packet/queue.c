/*
 * queue.c - ports whose packets wait in one queue of limited length, first in, first out.
 *
 * A port that sends at a known rate in order of arrival knows at once when a packet will leave:
 * when all before it have left. So a packet needs no event for that, and the queue at any time is
 * what has not begun to leave by then. The queue of a node is not limited: its transport is.
 */
#include <assert.h>

#include "base/hostile.h"
#include "net/packet/packet_internal.h"

/* Packets that have begun to leave do not wait any longer. */
static void update(struct packet_port *port, vtime now)
{
    while (port->waiting && port->waiting->start <= now) {
        assert_hot(port->queued >= port->waiting->wire);
        port->queued -= port->waiting->wire;
        packet_port_queue(port, port->waiting->start);
        port->waiting = port->waiting->next;
    }
}

static void join(struct packet_port *port, struct packet *p, vtime now)
{
    if (!port->waiting)
        port->waiting = p;
    port->queued += p->wire;
    if (port->queued > port->queue_max)
        port->queue_max = port->queued;
    packet_port_queue(port, now);
}

void packet_queue_enqueue(struct packet_net *n, struct packet *p, vtime now, packet_admit_fn *admit)
{
    struct packet_port *port = p->route->ports[p->hop];
    vtime time;

    assert_hot(!hostile_is_stale(p->route) && p->wire > 0);
    update(port, now);
    if (!port->is_nic) {
        enum packet_verdict verdict = admit(n, port, p, now);

        if (verdict == PACKET_REFUSE) {
            packet_drop(n, port, p, NET_DROPPED_FULL);
            return;
        }
        if (verdict == PACKET_MARK) {
            p->flags |= PACKET_MARKED;
            n->counts[NET_MARKED]++;
        }
    }
    p->start = now > port->free_at ? now : port->free_at;
    time = packet_port_time(n, port, p->wire, p->start);
    if (time == VTIME_NEVER) {
        packet_drop(n, port, p, NET_DROPPED_DOWN);
        return;
    }
    assert_hot(time >= 0 && p->start >= now);
    packet_port_send(n, port, p, time);
    if (p->start > now)
        join(port, p, now);
}

int packet_queue_init(struct packet_net *n, const struct platform_config *c, struct err *err)
{
    if (c->packet_queue < n->mtu_most + n->framing)
        return err_set(err, ERR_INPUT,
                       "net.packet.queue: '%llu' bytes hold no packet: a packet has up to %u (net."
                       "packet.mtu and net.packet.framing)",
                       (unsigned long long)c->packet_queue, n->mtu_most + n->framing);
    return 0;
}
