/*
 * stream.c - the messages from one rank to another, one after the other.
 *
 *     0 ........ acked ............ acked + send_buffer ........ end      offsets in bytes
 *     |  gone   |  in the send buffer |   the sender waits      |
 *     head -> [message] -> [message] -> unwritten -> [message] -> tail
 *
 * A message is written, and its sender may continue, when its last byte is in the send buffer. It
 * goes out when its last byte has arrived, in the order of the stream. On the network a message is
 * net.packet.header bytes longer than for its sender.
 */
#include <assert.h>
#include <stdio.h>

#include "base/array.h"
#include "base/hostile.h"
#include "base/log_module.h"
#include "base/mem.h"
#include "net/packet/packet_internal.h"

static uint64_t key_of(uint32_t src, uint32_t dst)
{
    return (uint64_t)src << 32 | dst;
}

struct packet_stream *packet_stream_find(struct packet_net *n, uint32_t src, uint32_t dst)
{
    const uint64_t *at = map_find(&n->stream_of_ranks, key_of(src, dst));

    return at ? n->streams[*at - 1] : NULL;
}

static void add_vectors(struct net_vectors *v, struct packet_stream *s)
{
    char name[NET_NAME_MAX];

    snprintf(name, sizeof name, "r%u-r%u", s->src, s->dst);
    s->window = net_vectors_add(v, NET_VECTOR_WINDOW, name);
    s->rtt = net_vectors_add(v, NET_VECTOR_RTT, name);
}

void packet_stream_init(struct packet_net *n, struct packet_stream *s, uint32_t src, uint32_t dst)
{
    *s = (struct packet_stream){.index = n->stream_count,
                                .src = src,
                                .dst = dst,
                                .timer_at = VTIME_NEVER};
    s->options = packet_options_of(n, net_node(n->net, src), net_node(n->net, dst));
    ARRAY_RESERVE(n->streams, n->stream_room, n->stream_count + 1, 64);
    n->streams[n->stream_count++] = s;
    *map_insert(&n->stream_of_ranks, key_of(src, dst), NULL) = n->stream_count;
    if (n->vectors)
        add_vectors(n->vectors, s);
}

/* Those without a tie have substream 0, which others do not use. */
static uint32_t substream_of(const struct packet_net *n, uint64_t tie)
{
    return n->substreams < 2 || tie == 0 ? 0
                                         : 1 + (uint32_t)(rng_splitmix(&tie) % (n->substreams - 1));
}

/* Senders whose messages are in the send buffer now may continue. */
static void write_all(struct packet_net *n, struct packet_stream *s, vtime now)
{
    uint64_t limit = s->acked + s->options->send_buffer;

    for (; s->unwritten && s->unwritten->end <= limit; s->unwritten = s->unwritten->next) {
        struct packet_parcel *p = s->unwritten;

        if (!p->cookie)
            continue;
        assert(n->notices > 0);
        engine_notify(n->engine, s->src, p->cookie, now);
        n->notices--;
        n->has_noticed = 1;
    }
}

void packet_stream_append(struct packet_net *n, struct packet_stream *s, struct engine_msg *m,
                          const struct engine_call *call, vtime now)
{
    struct packet_parcel *p = pool_alloc(&n->pool, sizeof *p);

    s->end += call->load + n->header;
    *p = (struct packet_parcel){.msg = m,
                                .bytes = call->load,
                                .end = s->end,
                                .left = call->load + n->header,
                                .cookie = call->cookie,
                                .substream = substream_of(n, call->tie)};
    if (s->head)
        s->tail->next = p;
    else
        s->head = p;
    s->tail = p;
    if (!s->unwritten)
        s->unwritten = p;
    write_all(n, s, now);
}

void packet_stream_ack(struct packet_net *n, struct packet_stream *s, uint64_t offset, vtime now)
{
    assert(offset >= s->acked && offset <= s->end && s->acked <= s->end);
    n->counts[NET_ACKED] += offset - s->acked;
    s->acked = offset;
    write_all(n, s, now);
}

/* Its last byte has arrived; it is no longer in the stream. The latency is that of the software at
 * the receiver. */
static void go_out(struct packet_net *n, struct packet_stream *s, struct packet_parcel *p,
                   vtime now)
{
    vtime arrival = vtime_add(now, net_curve_at(&n->net->inter, p->bytes)->latency);

    if (arrival > s->last)
        s->last = arrival;
    LOG_LINE(NET, DEBUG, p->msg->src, s->last, "a message arrives at rank %u", p->msg->dst);
    p->msg->arrival = s->last;
    engine_emerge(n->engine, p->msg);
    pool_free(&n->pool, p, sizeof *p);
}

static void head_out(struct packet_net *n, struct packet_stream *s, vtime now)
{
    struct packet_parcel *p = s->head;

    assert(p != s->unwritten); /* nothing arrives before it was in the send buffer */
    s->head = p->next;
    go_out(n, s, p, now);
}

void packet_stream_arrived(struct packet_net *n, struct packet_stream *s, uint64_t offset,
                           vtime end)
{
    while (s->head && s->head->end <= offset)
        head_out(n, s, end - vtime_mul_q(offset - s->head->end, s->options->read_time));
}

void packet_stream_release(struct packet_net *n, struct packet_stream *s, vtime now)
{
    while (s->head && s->head->left == 0)
        head_out(n, s, now);
}

/* Messages of a substream arrive in order, so the first of them is the one that these bytes are of.
 * It is near the head unless another substream is far behind. */
void packet_stream_arrived_of(struct packet_net *n, struct packet_stream *s, uint32_t substream,
                              uint64_t bytes, vtime now)
{
    struct packet_parcel *before = NULL, *p = s->head, *next;

    for (; bytes > 0; p = next) {
        uint64_t taken = p->substream == substream ? (bytes < p->left ? bytes : p->left) : 0;

        next = p->next;
        p->left -= taken;
        bytes -= taken;
        if (p->substream != substream || p->left > 0) {
            before = p;
            continue;
        }
        if (before)
            before->next = next;
        else
            s->head = next;
        if (s->tail == p)
            s->tail = before;
        go_out(n, s, p, now);
    }
}

void packet_stream_timer(struct packet_net *n, struct packet_stream *s, vtime t)
{
    if (t >= s->timer_at)
        return;
    s->timer_at = t;
    packet_event_add(&n->events, PACKET_TIMER, s->index, t);
}
