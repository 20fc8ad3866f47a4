/*
 * message.c - a transport for fabrics that lose nothing: a message is cut into packets, which are
 * sent one after the other and counted at the receiver. It repeats nothing, and there is no window
 * beside the fabric's own flow control, as for the reliable connections of InfiniBand.
 *
 * A stream has at most two packets at its node's port: while one leaves, the next is ready. So the
 * streams of a node take turns. Packets may take different routes (net.routing valiant, adaptive)
 * and overtake each other; messages do not.
 */
#include "net/packet/message.h"

#include <string.h>

#include "base/log.h"

#define HEADER 26 /* of a packet: routing, transport and checksums of InfiniBand */
#define AHEAD 2   /* packets of a stream at its node's port */
#define IP_UDP 17

struct message_stream {
    struct packet_stream base;
    struct packet_parcel *sending; /* the message that is being sent; NULL: none */
    uint64_t sent;                 /* offset in the stream */
    uint64_t left;                 /* bytes that have left the node */
    uint32_t at_port;              /* packets */
    uint32_t packets;              /* sent so far */
    uint32_t sizes[AHEAD];         /* of these, in order */
    struct message_rate rate;
    vtime next_at;      /* when its rate lets the next packet go */
    vtime signalled_at; /* when its receiver last told of congestion; -1: never */
};

/* ---- rate control ---- */

static const struct message_control_ops *const controls[] = {&message_dcqcn_ops};
#define CONTROLS (sizeof controls / sizeof controls[0])
#define NO_CONTROL "none"

const char *message_control_name(unsigned i)
{
    return i == 0 ? NO_CONTROL : i <= CONTROLS ? controls[i - 1]->name : NULL;
}

static int find_control(struct packet_net *n, const char *name, struct err *err)
{
    for (size_t i = 0; i < CONTROLS; i++)
        if (strcmp(controls[i]->name, name) == 0)
            n->control = controls[i];
    return n->control || strcmp(name, NO_CONTROL) == 0
               ? 0
               : topo_unknown("net.packet.rate_control", name, message_control_name, err);
}

/* A packet is sent: when the next one may leave. */
static void pace(struct packet_net *n, struct message_stream *m, uint32_t bytes, vtime now)
{
    struct message_rate *r = &m->rate;

    n->control->on_sent(r, bytes, now);
    if (r->rate < r->line)
        m->next_at = vtime_add(m->next_at > now ? m->next_at : now,
                               (vtime)((unsigned __int128)bytes * VTIME_S / r->rate));
}

/* The receiver tells the sender that there is congestion. */
static void signal(struct packet_net *n, struct message_stream *m, vtime now)
{
    struct packet_route *route;
    struct message_packet *p;

    if (m->signalled_at >= 0 && now - m->signalled_at < MESSAGE_SIGNAL_EVERY)
        return;
    m->signalled_at = now;
    route = packet_route_new(n, net_node(n->net, m->base.dst), net_node(n->net, m->base.src), now);
    p = (struct message_packet *)packet_new(n, &m->base, route, sizeof *p,
                                            MESSAGE_SIGNAL_BYTES + HEADER);
    packet_route_unref(n, route);
    p->parcel = NULL;
    p->bytes = MESSAGE_SIGNAL_BYTES;
    p->number = 0;
    p->is_first = p->is_last = 0;
    p->is_signal = 1;
    p->base.flags |= PACKET_CONTROL;
    n->fabric->enqueue(n, &p->base, now);
}

/* ---- sending ---- */

static struct message_stream *own(struct packet_stream *s)
{
    return (struct message_stream *)s;
}

/* At most so many bytes: the route may take less. */
static void send(struct packet_net *n, struct message_stream *m, uint64_t most, vtime now)
{
    struct packet_route *route = packet_stream_route(n, &m->base, now, 1);
    uint32_t room = route->mtu - (uint32_t)HEADER, bytes = most < room ? (uint32_t)most : room;
    struct message_packet *p = (struct message_packet *)packet_new(n, &m->base, route, sizeof *p,
                                                                   bytes + HEADER);

    p->parcel = m->sending;
    p->bytes = bytes;
    p->number = m->packets++;
    p->is_first = m->sent + m->sending->bytes + n->header == m->sending->end;
    p->is_last = m->sent + bytes == m->sending->end;
    p->is_signal = 0;
    if (n->control) {
        p->base.flags |= PACKET_CAN_MARK;
        pace(n, m, p->base.wire, now);
    }
    m->sizes[m->at_port++] = bytes;
    m->sent += bytes;
    if (m->sent == m->sending->end)
        m->sending = m->sending->next;
    n->fabric->enqueue(n, &p->base, now);
}

static void write(struct packet_net *n, struct packet_stream *s, vtime now)
{
    struct message_stream *m = own(s);

    if (!m->sending && m->sent < s->end)
        m->sending = s->tail;
    while (m->at_port < AHEAD && m->sending) {
        if (m->next_at > now) {
            packet_stream_timer(n, s, m->next_at);
            return;
        }
        uint64_t end = m->sending->end, limit = packet_stream_limit(s);
        uint64_t bytes = (end < limit ? end : limit) - m->sent;

        if (bytes <= n->mtu_most - HEADER && m->sent + bytes < end)
            return; /* the send buffer holds less than a packet of a longer message */
        send(n, m, bytes, now);
    }
}

static void left(struct packet_net *n, struct packet_stream *s, vtime now)
{
    struct message_stream *m = own(s);

    m->left += m->sizes[0];
    m->sizes[0] = m->sizes[1];
    m->at_port--;
    packet_stream_ack(n, s, m->left, now);
    write(n, s, now);
}

static void input(struct packet_net *n, struct packet *base, vtime now)
{
    struct message_packet *p = (struct message_packet *)base;
    struct message_stream *m = own(base->stream);

    if (p->is_signal) {
        n->control->on_signal(&m->rate, now);
        packet_free(n, base);
        return;
    }
    if (base->flags & PACKET_MARKED)
        signal(n, m, now);
    p->parcel->left -= p->bytes;
    packet_stream_release(n, base->stream, now);
    packet_free(n, base);
}

static int init(struct packet_net *n, const struct platform_config *c, struct err *err)
{
    return find_control(n, c->packet_rate_control, err);
}

static void connect(struct packet_net *n, struct packet_stream *s, vtime now)
{
    struct message_stream *m = own(s);
    const struct packet_port *nic;

    m->signalled_at = -1;
    if (!n->control)
        return;
    nic = packet_stream_route(n, s, now, 0)->ports[0];
    if (nic->ps_per_byte == 0)
        log_fatal_input("net.packet.rate_control: '%s' needs links of a finite bandwidth",
                        n->control->name);
    m->rate.line = (uint64_t)(((unsigned __int128)VTIME_S << 20) / nic->ps_per_byte);
    n->control->init(&m->rate);
}

static const char *const uses[] = {"net.packet.rate_control", NULL};

const struct packet_transport_ops packet_message_ops = {
    .name = "message",
    .uses = uses,
    .needs_lossless = 1,
    .mtu_least = HEADER + 1,
    .mtu_most = UINT16_MAX,
    .protocol = IP_UDP,
    .stream_size = sizeof(struct message_stream),
    .init = init,
    .connect = connect,
    .write = write,
    .input = input,
    .left = left,
    .timer = write,
    .image = message_image,
};
