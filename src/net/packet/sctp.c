/*
 * sctp.c - the transport "sctp": messages over real SCTP, the stack of usrsctp (sctp.h).
 *
 * A message is sent in pieces of at most SCTP_PIECE bytes, each a message for SCTP, one after the
 * other. The stack takes a piece when all of it fits into the send buffer, cuts it into packets,
 * and gives it to the other end as a whole. What the bytes are does not matter to a network: they
 * are zeros.
 */
#include "net/packet/sctp.h"

#include <string.h>

#include "base/mem.h"

#define MTU_LEAST 544  /* the stack accepts 512 bytes behind the headers */
#define MTU_MOST 65000 /* a packet is stored with its head */
#define STREAMS_MOST 65535
#define BUFFER_MOST (1u << 30)
#define ACK_MOST (500 * VTIME_MS)

static struct sctp_end *own(struct packet_stream *s)
{
    return (struct sctp_end *)s;
}

/* ---- packets ---- */

void sctp_output(struct sctp_end *end, const void *data, uint32_t bytes, int can_mark)
{
    struct packet_net *n = end->endpoint->host->state->net;
    struct packet_route *route = packet_stream_route(n, &end->base, n->now, 0);
    struct sctp_packet *p = (struct sctp_packet *)packet_new(n, &end->base, route,
                                                             sizeof *p + bytes,
                                                             bytes + SCTP_IP_HEADER);

    p->bytes = bytes;
    memcpy(p->data, data, bytes);
    if (can_mark)
        p->base.flags |= PACKET_CAN_MARK;
    if (end->base.rtt)
        sctp_rtt_sent(&end->rtt, data, bytes, n->now);
    n->fabric->enqueue(n, &p->base, n->now);
}

/* ---- messages ---- */

void sctp_received(struct sctp_end *end, uint32_t substream, uint64_t bytes)
{
    struct packet_net *n = end->endpoint->host->state->net;

    packet_stream_arrived_of(n, &end->peer->base, substream, bytes, n->now);
}

void sctp_acknowledged(struct sctp_end *end, uint64_t queued)
{
    end->queued = queued;
}

/* Hands the stack what fits into the send buffer, which may be smaller than when it was opened. */
static void feed(struct sctp_end *end)
{
    uint64_t set = end->base.options->send_buffer, had = end->endpoint->send_buffer;
    uint64_t buffer = set < had ? set : had, most = end->endpoint->piece;

    if (most > buffer / 2)
        most = buffer / 2;
    while (end->sending) {
        uint64_t left = end->sending->end - end->sent, piece = left < most ? left : most;

        if (end->sent + piece > end->base.acked + buffer ||
            !sctp_stack_send(end, end->sending->substream, (uint32_t)piece))
            return;
        end->sent += piece;
        end->queued += piece;
        if (end->sent == end->sending->end)
            end->sending = end->sending->next;
    }
}

/* The stack has run for this end: some of what it had may be acknowledged. */
static void settle(struct packet_net *n, struct sctp_end *end, vtime now)
{
    uint64_t window;

    if (end->sent - end->queued > end->base.acked)
        packet_stream_ack(n, &end->base, end->sent - end->queued, now);
    feed(end);
    if (end->base.window && (window = sctp_stack_window(end)) > 0)
        packet_stream_window(&end->base, now, window);
}

static void write(struct packet_net *n, struct packet_stream *s, vtime now)
{
    struct sctp_end *end = own(s);

    (void)n, (void)now;
    if (!end->sending && end->sent < s->end)
        end->sending = s->tail;
    feed(end);
}

static void input(struct packet_net *n, struct packet *base, vtime now)
{
    struct sctp_packet *p = (struct sctp_packet *)base;
    struct sctp_end *end = own(base->stream)->peer;
    vtime rtt = end->base.rtt ? sctp_rtt_received(&end->rtt, p->data, p->bytes, now) : -1;

    if (rtt >= 0)
        packet_stream_rtt(&end->base, now, rtt);
    sctp_stack_input(end, p);
    packet_free(n, base);
    settle(n, end, now);
}

static void timer(struct packet_net *n, struct packet_stream *s, vtime now)
{
    sctp_system_expire(own(s), now);
    settle(n, own(s), now);
}

/* ---- the transport ---- */

static struct sctp_state *state_new(struct packet_net *n)
{
    struct sctp_state *state = mem_zalloc(sizeof *state);

    state->net = n;
    state->zeros = mem_zalloc(SCTP_PIECE);
    rng_seed(&state->rng, n->machine->config.packet_seed);
    pool_init(&state->memory.pool, "SCTP");
    map_init(&state->host_of_node);
    map_init(&state->sets);
    map_init(&state->endpoints);
    map_init(&state->ports);
    map_init(&state->numbers);
    return state;
}

static void free_values(struct map *map)
{
    uint64_t value;

    for (size_t it = 0; map_next(map, &it, NULL, &value);)
        mem_free((void *)(uintptr_t)value);
    map_fini(map);
}

static void fini(struct packet_net *n)
{
    struct sctp_state *state = n->transport_state;

    if (!state)
        return;
    sctp_system_fini(state);
    free_values(&state->host_of_node);
    free_values(&state->endpoints);
    map_fini(&state->sets);
    map_fini(&state->ports);
    map_fini(&state->numbers);
    mem_free(state->zeros);
    mem_free(state);
}

/* The largest packet of an association, which keeps it: that of its route now. */
static uint32_t mtu_of(struct packet_net *n, struct packet_stream *s, vtime now)
{
    return n->mtu_least == n->mtu_most ? n->mtu_most : packet_stream_route(n, s, now, 0)->mtu;
}

static void connect(struct packet_net *n, struct packet_stream *s, vtime now)
{
    struct sctp_end *end = own(s), *peer = pool_alloc(&n->pool, sizeof *peer);

    if (!n->transport_state)
        n->transport_state = state_new(n);
    memset(peer, 0, sizeof *peer);
    packet_stream_init(n, &peer->base, s->dst, s->src);
    end->peer = peer;
    peer->peer = end;
    end->endpoint = sctp_stack_endpoint(n->transport_state, s, &peer->base, mtu_of(n, s, now));
    peer->endpoint = sctp_stack_endpoint(n->transport_state, &peer->base, s,
                                         mtu_of(n, &peer->base, now));
    n->counts[NET_CONNECTIONS]++;
}

static void count(struct packet_net *n)
{
    if (n->transport_state)
        sctp_stack_count(n->transport_state, n->counts);
}

static int check(const struct packet_options *o, struct err *err)
{
    if (o->send_buffer > BUFFER_MOST || o->receive_buffer > BUFFER_MOST)
        return err_set(err, ERR_INPUT, "net.packet.%s_buffer: at most 1 GiB with SCTP",
                       o->send_buffer > BUFFER_MOST ? "send" : "receive");
    if (o->delayed_ack > ACK_MOST)
        return err_set(err, ERR_INPUT, "net.packet.delayed_ack: at most 500 ms with SCTP");
    return 0;
}

static int set_substreams(struct packet_net *n, const struct platform_config *c, struct err *err)
{
    unsigned which = 0;

    while (packet_streams_name(which) && strcmp(packet_streams_name(which), c->packet_streams) != 0)
        which++;
    if (!packet_streams_name(which))
        return topo_unknown("net.packet.streams", c->packet_streams, packet_streams_name, err);
    if (c->packet_stream_count < 2 || c->packet_stream_count > STREAMS_MOST)
        return err_set(err, ERR_INPUT, "net.packet.stream_count: SCTP takes 2 to %d", STREAMS_MOST);
    n->net->substreams = (uint8_t)which;
    n->substreams = which ? (uint32_t)c->packet_stream_count : 1;
    return 0;
}

static int init(struct packet_net *n, const struct platform_config *c, struct err *err)
{
    if (c->packet_initial_window > UINT16_MAX)
        return err_set(err, ERR_INPUT, "net.packet.initial_window: at most %d", UINT16_MAX);
    n->jitter = c->packet_jitter;
    return set_substreams(n, c, err);
}

static const char *const uses[] = {PACKET_SCTP_USES, NULL};

const struct packet_transport_ops packet_sctp_ops = {
    .name = "sctp",
    .uses = uses,
    .mtu_least = MTU_LEAST,
    .mtu_most = MTU_MOST,
    .protocol = 132,
    .stream_size = sizeof(struct sctp_end),
    .init = init,
    .check = check,
    .connect = connect,
    .write = write,
    .input = input,
    .timer = timer,
    .image = sctp_image,
    .count = count,
    .fini = fini,
};
