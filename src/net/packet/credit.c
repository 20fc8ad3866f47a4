/*
 * credit.c - a fabric that drops nothing: a port sends a packet only if the buffer at the other end
 * of the link has room for it (credits).
 *
 * A packet occupies the buffer of the link that it came over until its last byte has left on the
 * next one; then the room is reported back, which takes the delay of the link. A node always takes
 * what arrives. Each virtual channel of a link has a buffer and a queue of its own, and the
 * channels of a port take turns.
 *
 * Deadlocks are excluded by the order of channels. A route begins in channel 0 and takes the next
 * channel whenever the number of its next link is lower than that of the one before it. So the
 * pairs (channel, link) of a route only grow, packets wait in this order for each other, and the
 * last link, into a node, waits for nobody. This holds for all topologies and routings. With fewer
 * channels (net.packet.channels) a deadlock is possible, and is reported.
 */
#include "base/array.h"
#include "base/log.h"
#include "net/packet/packet_internal.h"

static inline int credit_before(const struct packet_credit *a, const struct packet_credit *b)
{
    return a->t < b->t;
}
HEAP_FUNCTIONS(packet_credits, struct packet_credit, 2, 4, credit_before, HEAP_UNTRACKED);

static struct packet_channel *channel_get(struct packet_net *n, struct packet_port *port,
                                          uint32_t i)
{
    while (port->channel_count <= i) {
        ARRAY_EXTEND(port->channels, port->channel_count);
        port->channels[port->channel_count++] = (struct packet_channel){
            .free = n->machine->config.packet_buffer};
    }
    return &port->channels[i];
}

static void choose_channel(const struct packet_net *n, struct packet *p)
{
    uint64_t most = n->machine->config.packet_channels;
    uint32_t hop = p->hop;

    p->flags &= (uint8_t)~PACKET_STEPPED;
    if (hop > 1 && hop + 1 < p->route->count &&
        p->route->ports[hop]->link < p->route->ports[hop - 1]->link && p->channel < UINT8_MAX &&
        (most == 0 || p->channel + 1u < most)) {
        p->channel++;
        p->flags |= PACKET_STEPPED;
    }
}

/* ---- room ---- */

static int has_room(const struct packet_port *port, const struct packet_channel *c,
                    const struct packet *p)
{
    return port->is_last || c->free >= p->wire;
}

static void take_credits(struct packet_channel *c, vtime now)
{
    while (c->returns.len > 0 && c->returns.at[0].t <= now)
        c->free += packet_credits_pop(&c->returns).bytes;
}

/* The packet will have left this node at `end`: the link that it came over has room again. */
static void give_credit(struct packet_net *n, const struct packet *p, uint32_t channel, vtime end)
{
    struct packet_port *up = p->route->ports[p->hop - 1];
    vtime t = vtime_add(end, up->delay);

    packet_credits_push(&up->channels[channel].returns, (struct packet_credit){t, p->wire});
    if (up->is_blocked)
        packet_port_wake(n, up, t);
}

/* ---- sending ---- */

static void send(struct packet_net *n, struct packet_port *port, struct packet_channel *c,
                 vtime now, vtime time)
{
    struct packet *p = c->head;
    vtime end = vtime_add(now, time);

    c->head = p->next;
    port->queued -= p->wire;
    if (!port->is_last)
        c->free -= p->wire;
    if (p->hop > 0)
        give_credit(n, p, p->channel - (p->flags & PACKET_STEPPED ? 1u : 0u), end);
    p->start = now;
    if (port->is_nic) {
        port->leaving = p->stream;
        packet_port_wake(n, port, end);
    }
    packet_port_send(n, port, p, time);
}

/* The channel to send from, in turn; NULL: none can. */
static struct packet_channel *choose(struct packet_port *port, vtime now)
{
    for (uint32_t i = 0; i < port->channel_count; i++) {
        uint32_t k = (port->turn + i) % port->channel_count;
        struct packet_channel *c = &port->channels[k];

        if (!c->head)
            continue;
        take_credits(c, now);
        if (has_room(port, c, c->head)) {
            port->turn = k + 1;
            return c;
        }
    }
    return NULL;
}

/* Nothing may be sent: when to look again. */
static void wait_for_room(struct packet_net *n, struct packet_port *port)
{
    for (uint32_t i = 0; i < port->channel_count; i++) {
        const struct packet_channel *c = &port->channels[i];

        if (c->head && c->returns.len > 0)
            packet_port_wake(n, port, c->returns.at[0].t);
        port->is_blocked |= c->head != NULL;
    }
}

static void try_send(struct packet_net *n, struct packet_port *port, vtime now)
{
    struct packet_channel *c;
    vtime time;

    if (port->queued == 0)
        return;
    if (now < port->free_at) {
        packet_port_wake(n, port, port->free_at);
        return;
    }
    port->is_blocked = 0;
    c = choose(port, now);
    if (!c) {
        wait_for_room(n, port);
        return;
    }
    time = packet_port_time(n, port, c->head->wire, now);
    if (time == VTIME_NEVER) { /* down: it looks again when a link changes */
        port->is_blocked = 1;
        return;
    }
    send(n, port, c, now, time);
    if (port->queued > 0)
        packet_port_wake(n, port, port->free_at);
}

static void enqueue(struct packet_net *n, struct packet *p, vtime now)
{
    struct packet_port *port = p->route->ports[p->hop];
    struct packet_channel *c;

    choose_channel(n, p);
    c = channel_get(n, port, p->channel);
    p->next = NULL;
    if (c->head)
        c->tail->next = p;
    else
        c->head = p;
    c->tail = p;
    port->queued += p->wire;
    if (port->queued > port->queue_max)
        port->queue_max = port->queued;
    try_send(n, port, now);
}

static void advance(struct packet_net *n, struct packet_port *port, vtime now)
{
    struct packet_stream *s = port->leaving;

    if (s && now >= port->free_at) {
        port->leaving = NULL;
        if (n->transport->left)
            n->transport->left(n, s, now);
    }
    try_send(n, port, now);
}

/* It never occupied the buffer at the end of the link. */
static void lose(struct packet_net *n, struct packet *p, vtime now)
{
    if (!p->route->ports[p->hop]->is_last) {
        p->hop++;
        give_credit(n, p, p->channel, now);
        p->hop--;
    }
}

static int init(struct packet_net *n, const struct platform_config *c, struct err *err)
{
    if (c->packet_buffer < n->mtu + n->framing)
        return err_set(err, ERR_INPUT,
                       "net.packet.buffer: '%llu' bytes hold no packet: a packet has up to %u (net."
                       "packet.mtu and net.packet.framing)",
                       (unsigned long long)c->packet_buffer, n->mtu + n->framing);
    if (c->packet_channels > UINT8_MAX)
        return err_set(err, ERR_INPUT, "net.packet.channels: at most %d", UINT8_MAX);
    return 0;
}

static const char *const uses[] = {"net.packet.buffer", "net.packet.channels", NULL};

const struct packet_fabric_ops packet_credit_ops = {
    .name = "credit",
    .uses = uses,
    .is_lossless = 1,
    .init = init,
    .enqueue = enqueue,
    .advance = advance,
    .lose = lose,
};
