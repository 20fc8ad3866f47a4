/*
 * lossless.c - ports of fabrics that drop nothing (see lossless.h).
 */
#include "net/packet/lossless.h"

#include "base/array.h"

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

/* ---- sending ---- */

static void send(struct packet_net *n, struct packet_port *port, struct packet_channel *c,
                 vtime now, vtime time, const struct packet_flow_ops *flow)
{
    struct packet *p = c->head;
    vtime end = vtime_add(now, time);

    c->head = p->next;
    port->queued -= p->wire;
    packet_port_queue(port, now);
    if (!port->is_last && flow->sent)
        flow->sent(c, p);
    if (p->hop > 0) {
        struct packet_port *up = p->route->ports[p->hop - 1];

        flow->left(n, up, &up->channels[p->channel - (p->flags & PACKET_STEPPED ? 1u : 0u)], p,
                   end);
    }
    p->start = now;
    if (port->is_nic) {
        port->leaving = p->flags & PACKET_CONTROL ? NULL : p->stream;
        packet_port_wake(n, port, end);
    }
    packet_port_send(n, port, p, time);
}

/* The channel to send from, in turn; NULL: none can. */
static struct packet_channel *choose(struct packet_net *n, struct packet_port *port, vtime now,
                                     const struct packet_flow_ops *flow)
{
    for (uint32_t i = 0; i < port->channel_count; i++) {
        uint32_t k = (port->turn + i) % port->channel_count;
        struct packet_channel *c = &port->channels[k];

        if (c->head && (port->is_last || flow->may_send(n, port, c, now))) {
            port->turn = k + 1;
            return c;
        }
    }
    return NULL;
}

/* Nothing may be sent: when to look again. */
static void wait_for_room(struct packet_net *n, struct packet_port *port,
                          const struct packet_flow_ops *flow)
{
    for (uint32_t i = 0; i < port->channel_count; i++) {
        const struct packet_channel *c = &port->channels[i];
        vtime t = c->head ? flow->next(port, c) : VTIME_NEVER;

        if (t != VTIME_NEVER)
            packet_port_wake(n, port, t);
        port->is_blocked |= c->head != NULL;
    }
}

static void try_send(struct packet_net *n, struct packet_port *port, vtime now,
                     const struct packet_flow_ops *flow)
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
    c = choose(n, port, now, flow);
    if (!c) {
        wait_for_room(n, port, flow);
        return;
    }
    time = packet_port_time(n, port, c->head->wire, now);
    if (time == VTIME_NEVER) { /* down: it looks again when a link changes */
        port->is_blocked = 1;
        return;
    }
    send(n, port, c, now, time, flow);
    if (port->queued > 0)
        packet_port_wake(n, port, port->free_at);
}

/* Shall a packet that finds this queue be marked? As red, by the queue as it is. */
static int is_long(struct packet_net *n, const struct packet_port *port)
{
    const struct platform_config *c = &n->machine->config;
    double low = (double)c->packet_red_low, high = (double)c->packet_red_high,
           queued = (double)port->queued;

    if (queued <= low)
        return 0;
    return queued >= high ||
           rng_double(&n->rng) < c->packet_red_chance * (queued - low) / (high - low);
}

void packet_lossless_enqueue(struct packet_net *n, struct packet *p, vtime now)
{
    const struct packet_flow_ops *flow = n->fabric->flow;
    struct packet_port *port = p->route->ports[p->hop];
    struct packet_channel *c;

    if (p->hop > 0 && flow->arrived) {
        struct packet_port *up = p->route->ports[p->hop - 1];

        flow->arrived(n, up, &up->channels[p->channel], p, now);
    }
    if (p->flags & PACKET_CAN_MARK && n->control && !port->is_nic && is_long(n, port)) {
        p->flags |= PACKET_MARKED;
        n->counts[NET_MARKED]++;
    }
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
    packet_port_queue(port, now);
    try_send(n, port, now, flow);
}

void packet_lossless_advance(struct packet_net *n, struct packet_port *port, vtime now)
{
    struct packet_stream *s = port->leaving;

    if (s && now >= port->free_at) {
        port->leaving = NULL;
        if (n->transport->left)
            n->transport->left(n, s, now);
    }
    try_send(n, port, now, n->fabric->flow);
}

int packet_lossless_init(struct packet_net *n, const struct platform_config *c, struct err *err)
{
    if (c->packet_buffer < n->mtu_most + n->framing)
        return err_set(err, ERR_INPUT,
                       "net.packet.buffer: '%llu' bytes hold no packet: a packet has up to %u (net."
                       "packet.mtu and net.packet.framing)",
                       (unsigned long long)c->packet_buffer, n->mtu_most + n->framing);
    if (n->control && (c->packet_red_low >= c->packet_red_high || c->packet_red_chance > 1))
        return err_set(err, ERR_INPUT, "net.packet.red_%s",
                       c->packet_red_chance > 1 ? "chance: must be at most 1"
                                                : "low: must be below net.packet.red_high");
    if (c->packet_channels > UINT8_MAX)
        return err_set(err, ERR_INPUT, "net.packet.channels: at most %d", UINT8_MAX);
    return 0;
}
