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
};

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

    p->parcel->left -= p->bytes;
    packet_stream_release(n, base->stream, now);
    packet_free(n, base);
}

static int init(struct packet_net *n, const struct platform_config *c, struct err *err)
{
    (void)n, (void)c, (void)err;
    return 0;
}

static void connect(struct packet_net *n, struct packet_stream *s, vtime now)
{
    (void)n, (void)s, (void)now;
}

static const char *const uses[] = {NULL};

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
    .image = message_image,
};
