/*
 * tcp.c - TCP: opening connections, sending, timers.
 *
 * A connection is opened when its first message is sent, with three packets. Slow start, congestion
 * avoidance and fast retransmit are those of RFC 5681 with selective acknowledgements (RFC 6675) or
 * without (RFC 6582), the timer that of RFC 6298, the round trip is measured by timestamps (RFC
 * 7323). There is no end of a connection: MPI keeps them.
 *
 * Data that has arrived in order is taken from the receive buffer at once, so the offered window is
 * always the whole buffer.
 */
#include "net/packet/tcp.h"

#include <string.h>

#define QUICK 16 /* acknowledgements at the beginning that are not delayed */
#define RTO_MOST (60 * VTIME_S)
#define BATCH_MOST 65536u

static struct tcp_half *own(struct packet_stream *s)
{
    return (struct tcp_half *)s;
}

/* ---- packets ---- */

/* The last of the ranges that were received out of order; earlier packets had those before them. */
static uint8_t add_blocks(const struct tcp_half *h, struct packet_range *block)
{
    uint32_t n = h->early.count < TCP_BLOCKS ? h->early.count : TCP_BLOCKS;
    uint32_t last = h->early.count - n;

    for (uint32_t i = 0; i < n; i++)
        block[i] = h->early.at[last + i];
    return (uint8_t)n;
}

/* The route of its packets, and with it the size of its segments. */
static struct packet_route *find_route(struct packet_net *n, struct tcp_half *h, vtime now)
{
    struct packet_route *route = packet_stream_route(n, &h->base, now, 0);

    h->mss = route->mtu - (uint32_t)TCP_HEADER;
    return route;
}

static struct tcp_packet *new_packet(struct packet_net *n, struct tcp_half *h, uint32_t bytes,
                                     uint32_t header, vtime now)
{
    struct packet_range block[TCP_BLOCKS];
    uint8_t blocks = h->base.options->sack ? add_blocks(h, block) : 0;
    uint32_t more = blocks ? 4 + 8u * blocks : 0;
    size_t size = sizeof(struct tcp_packet) + blocks * sizeof *block;
    struct packet_route *route = find_route(n, h, now);
    struct tcp_packet *p = (struct tcp_packet *)packet_new(n, &h->base, route, size,
                                                           bytes + header + more);

    p->bytes = bytes;
    p->ack = h->received;
    p->stamp = now;
    p->echo = h->echo;
    p->flags = (h->is_marked ? TCP_ECHO : 0) | (h->has_echoed ? TCP_STALE : 0) |
               (h->has_twice ? TCP_TWICE : 0);
    p->blocks = blocks;
    memcpy(p->block, block, blocks * sizeof *block);
    h->has_echoed = 1;
    h->is_marked = 0;
    h->has_twice = 0;
    h->must_ack = 0;
    h->unacked = 0;
    h->ack_at = VTIME_NEVER;
    return p;
}

void tcp_send_empty(struct packet_net *n, struct tcp_half *h, uint8_t flags, vtime now)
{
    struct tcp_packet *p = new_packet(n, h, 0, flags & TCP_SYN ? TCP_SYN_HEADER : TCP_HEADER, now);

    p->seq = h->next;
    p->flags |= flags;
    n->fabric->enqueue(n, &p->base, now);
}

void tcp_send_data(struct packet_net *n, struct tcp_half *h, uint64_t seq, uint64_t bytes,
                   vtime now)
{
    struct tcp_packet *p = new_packet(n, h, (uint32_t)bytes, TCP_HEADER, now);

    p->seq = seq;
    p->flags |= h->has_reduced ? TCP_REDUCED : 0;
    h->has_reduced = 0;
    h->sent_at = now;
    p->base.flags |= PACKET_CAN_MARK;
    n->fabric->enqueue(n, &p->base, now);
}

/* ---- timers ---- */

static void set_timer(struct packet_net *n, struct tcp_half *h)
{
    vtime t = h->resend_at < h->ack_at ? h->resend_at : h->ack_at, loss = tcp_loss_next(h);

    t = t < loss ? t : loss;
    t = t < h->room_at ? t : h->room_at;
    if (t != VTIME_NEVER)
        packet_stream_timer(n, &h->base, t);
}

void tcp_restart(struct packet_net *n, struct tcp_half *h, vtime now)
{
    int waits = h->state == TCP_OPEN ? h->next > h->base.acked : h->state != TCP_CLOSED;

    h->resend_at = waits ? vtime_add(now, h->rto) : VTIME_NEVER;
    tcp_loss_plan(h, now);
    set_timer(n, h);
}

static void back_off(struct tcp_half *h)
{
    h->rto = h->rto < RTO_MOST / 2 ? 2 * h->rto : RTO_MOST;
}

/* Everything that the receiver has not confirmed counts as lost (RFC 5681, section 3.1). */
static void time_out(struct packet_net *n, struct tcp_half *h, vtime now)
{
    n->counts[NET_TIMEOUTS]++;
    if (h->recovery != TCP_TIMEOUT)
        tcp_reduce(h);
    h->window = h->mss;
    packet_stream_window(&h->base, now, h->window);
    h->recovery = TCP_TIMEOUT;
    h->recover = h->lost_to = h->next;
    h->resent_to = h->base.acked;
    h->duplicates = 0;
    h->reorder_at = VTIME_NEVER;
    tcp_output(n, h, now);
}

static void resend(struct packet_net *n, struct tcp_half *h, vtime now)
{
    back_off(h);
    if (h->state == TCP_OPEN) {
        time_out(n, h, now);
    } else {
        n->counts[NET_TIMEOUTS]++;
        n->counts[NET_RETRANSMITTED]++;
        tcp_send_empty(n, h, h->state == TCP_SYN_SENT ? TCP_SYN : TCP_SYN | TCP_ACK, now);
    }
    tcp_restart(n, h, now);
}

static void timer(struct packet_net *n, struct packet_stream *s, vtime now)
{
    struct tcp_half *h = own(s);

    if (h->ack_at <= now)
        tcp_send_empty(n, h, 0, now);
    if (h->resend_at <= now)
        resend(n, h, now);
    else if (tcp_loss_next(h) <= now)
        tcp_loss_expire(n, h, now);
    if (h->room_at <= now)
        tcp_output(n, h, now);
    set_timer(n, h);
}

/* ---- sending ---- */

void tcp_reduce(struct tcp_half *h)
{
    h->threshold = h->base.options->congestion->reduce(h, h->mss);
    h->window = h->threshold;
    h->reduced = h->next;
}

static uint64_t not_sacked(const struct tcp_half *h, uint64_t from, uint64_t to)
{
    return from < to ? to - from - packet_ranges_sum(&h->sacked, from, to) : 0;
}

/* Bytes that count as in flight. */
static uint64_t in_flight(const struct tcp_half *h)
{
    uint64_t acked = h->base.acked, lost = h->lost_to > acked ? h->lost_to : acked;
    uint64_t all = not_sacked(h, acked, h->resent_to) + not_sacked(h, lost, h->next);
    /* Without selective acknowledgements each duplicate says that one segment has arrived. */
    uint64_t arrived = h->base.options->sack ? 0 : h->duplicates * (uint64_t)h->mss;

    return all > arrived ? all - arrived : 0;
}

/* The next lost segment that was not sent again; 0: none. */
static uint64_t next_lost(const struct tcp_half *h, uint64_t *seq)
{
    uint64_t from = h->resent_to > h->base.acked ? h->resent_to : h->base.acked, end;

    if (from >= h->lost_to)
        return 0;
    *seq = packet_ranges_gap(&h->sacked, from, &end);
    if (end > h->lost_to)
        end = h->lost_to;
    if (*seq >= end)
        return 0;
    return end - *seq < h->mss ? end - *seq : h->mss;
}

uint64_t tcp_next_new(const struct tcp_half *h)
{
    uint64_t offered = h->base.acked + h->base.options->receive_buffer;
    uint64_t limit = packet_stream_limit(&h->base), bytes;
    int is_quiet = h->next == h->base.acked;

    if (limit > offered)
        limit = offered;
    bytes = limit - h->next;
    if (h->next >= limit)
        return 0;
    if (bytes >= h->mss)
        return h->mss;
    if (is_quiet || (limit == h->base.end && !h->base.options->nagle))
        return bytes;
    return 0; /* a small segment waits for more bytes, or for an acknowledgement (Nagle) */
}

/* How much of the window is used, for data of a window at a time. */
static void note_use(struct tcp_half *h, uint64_t flight, int is_limited)
{
    if (h->base.acked < h->used_end && !is_limited && (h->is_limited || flight <= h->used))
        return;
    h->is_limited = (uint8_t)is_limited;
    h->used = flight;
    h->used_end = h->next;
}

/* The connection was idle: its window says nothing about the network any longer (RFC 5681, section
 * 4.1). As in Linux it is halved for each retransmission time, down to that of the beginning. */
static void restart_idle(struct tcp_half *h, vtime now)
{
    uint64_t least = h->base.options->initial_window * (uint64_t)h->mss, kept = h->window / 4 * 3;
    vtime idle = now - h->sent_at;

    if (kept > h->threshold)
        h->threshold = kept;
    while ((idle -= h->rto) > 0 && h->window > least)
        h->window = h->window / 2 > least ? h->window / 2 : least;
}

/* What is sent in a millisecond if a window, or two in slow start, is in a round trip. */
static uint32_t batch_size(const struct tcp_half *h)
{
    uint64_t least = 2 * (uint64_t)h->mss, fifths = h->window < h->threshold / 2 ? 10 : 6, bytes;

    if (h->srtt < VTIME_US)
        return BATCH_MOST;
    bytes = (uint64_t)((unsigned __int128)h->window * fifths * VTIME_MS / (5 * (uint64_t)h->srtt));
    bytes = bytes < BATCH_MOST ? bytes : BATCH_MOST;
    return (uint32_t)(bytes > least ? bytes : least);
}

/* A connection has at most two batches of segments in the queue of its node, so that those of
 * others and acknowledgements do not wait for a whole window ("TCP small queues" of Linux). */
static int has_room(struct tcp_half *h, vtime now)
{
    if (h->batch_left > 0)
        return 1;
    if (h->before_gone > now) {
        h->room_at = h->before_gone;
        return 0;
    }
    h->before_gone = h->batch_gone;
    h->batch_left = batch_size(h);
    return 1;
}

/* The node's port knows when what it was given will have left. */
static void fill_batch(struct tcp_half *h, uint64_t bytes)
{
    h->batch_left = h->batch_left > bytes ? h->batch_left - (uint32_t)bytes : 0;
    h->batch_gone = h->base.route->ports[0]->free_at;
}

void tcp_output(struct packet_net *n, struct tcp_half *h, vtime now)
{
    uint64_t flight = in_flight(h), seq, bytes;
    int is_limited = 0, has_sent = 0;
    int is_small = h->base.options->small_queue && !n->fabric->flow;

    h->room_at = VTIME_NEVER;
    for (;;) {
        int again = h->recovery != TCP_NORMAL && (bytes = next_lost(h, &seq)) > 0;

        if (!again) {
            seq = h->next;
            bytes = tcp_next_new(h);
            if (bytes > 0 && h->next == h->base.acked && h->base.options->restart_idle &&
                now - h->sent_at > h->rto)
                restart_idle(h, now);
        }
        is_limited = bytes > 0 && flight > 0 && flight + bytes > h->window;
        if (bytes == 0 || is_limited || (is_small && !has_room(h, now)))
            break;
        if (__builtin_expect(h->base.epoch != n->epoch, 0)) { /* links have changed */
            find_route(n, h, now);
            continue;
        }
        flight += bytes;
        if (again) {
            h->resent_to = seq + bytes;
            n->counts[NET_RETRANSMITTED]++;
        } else {
            h->next += bytes;
        }
        tcp_send_data(n, h, seq, bytes, now);
        if (is_small)
            fill_batch(h, bytes);
        has_sent = 1;
    }
    if (has_sent || is_limited)
        note_use(h, flight, is_limited || flight + h->mss > h->window);
    if (h->resend_at == VTIME_NEVER) {
        tcp_restart(n, h, now);
    } else if (has_sent || h->room_at != VTIME_NEVER) {
        tcp_loss_plan(h, now);
        set_timer(n, h);
    }
}

/* ---- connections ---- */

static void half_init(struct tcp_half *h, struct tcp_half *peer)
{
    h->peer = peer;
    h->quick = QUICK;
    h->threshold = UINT64_MAX;
    h->rto = h->base.options->first_rto;
    h->resend_at = h->ack_at = h->reorder_at = h->probe_at = h->room_at = VTIME_NEVER;
    h->cubic.start = -1;
    h->echo = -1;
}

static void connect(struct packet_net *n, struct packet_stream *s, vtime now)
{
    struct tcp_half *h = own(s), *peer = pool_alloc(&n->pool, sizeof *peer);

    (void)now;
    memset(peer, 0, sizeof *peer);
    packet_stream_init(n, &peer->base, s->dst, s->src);
    half_init(h, peer);
    half_init(peer, h);
    n->counts[NET_CONNECTIONS]++;
}

static void write(struct packet_net *n, struct packet_stream *s, vtime now)
{
    struct tcp_half *h = own(s);

    if (h->state == TCP_CLOSED) {
        h->state = TCP_SYN_SENT;
        tcp_send_empty(n, h, TCP_SYN, now);
        tcp_restart(n, h, now);
    } else if (h->state == TCP_OPEN) {
        tcp_output(n, h, now);
    }
}

static void destroy(struct packet_net *n, struct packet_stream *s)
{
    (void)n;
    packet_ranges_fini(&own(s)->sacked);
    packet_ranges_fini(&own(s)->early);
}

static int init(struct packet_net *n, const struct platform_config *c, struct err *err)
{
    if (c->packet_window_scale > 14)
        return err_set(err, ERR_INPUT, "net.packet.window_scale: at most 14");
    if (c->packet_initial_window > UINT16_MAX)
        return err_set(err, ERR_INPUT, "net.packet.initial_window: at most %d", UINT16_MAX);
    n->jitter = c->packet_jitter;
    return 0;
}

static const char *const uses[] = {
    "net.packet.receive_buffer", "net.packet.congestion", "net.packet.initial_window",
    "net.packet.window_scale",   "net.packet.min_rto",    "net.packet.first_rto",
    "net.packet.delayed_ack",    "net.packet.sack",       "net.packet.nagle",
    "net.packet.hystart",        "net.packet.rack",       "net.packet.restart_idle",
    "net.packet.small_queue",    "net.packet.jitter",     NULL,
};

const struct packet_transport_ops packet_tcp_ops = {
    .name = "tcp",
    .uses = uses,
    .mtu_least = 2 * TCP_HEADER,
    .mtu_most = UINT16_MAX,
    .protocol = 6,
    .stream_size = sizeof(struct tcp_half),
    .init = init,
    .connect = connect,
    .write = write,
    .input = tcp_input,
    .timer = timer,
    .destroy = destroy,
    .image = tcp_image,
};
