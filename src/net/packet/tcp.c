/*
 * tcp.c - TCP: opening connections, sending, timers.
 *
 * A connection is opened when its first message is sent, with three packets. Slow start, congestion
 * avoidance and loss recovery are those of Linux (tcp_recovery.c), the round trip is measured by
 * what was sent and by timestamps (RFC 7323). There is no end of a connection: MPI keeps them.
 */
#include "net/packet/tcp.h"
#include "base/log_module.h"

#include <string.h>

#define RTO_MOST (120 * VTIME_S)
#define BATCH_MOST 65536u
#define UNPACED 10 /* segments at the beginning of a connection */

static struct tcp_half *own(struct packet_stream *s)
{
    return (struct tcp_half *)s;
}

/* ---- packets ---- */

static void split(struct tcp_half *h, uint32_t mss)
{
    tcp_segments_split(&h->segments, h->base.acked, mss);
    tcp_rate_forget(h);
}

/* The route of its packets, and with it the size of its segments. */
static struct packet_route *find_route(struct packet_net *n, struct tcp_half *h, vtime now)
{
    struct packet_route *route = packet_stream_route(n, &h->base, now, 0);
    uint32_t mss = route->mtu - (uint32_t)TCP_HEADER;

    if (mss < h->mss)
        split(h, mss);
    h->mss = mss;
    return route;
}

static struct tcp_packet *new_packet(struct packet_net *n, struct tcp_half *h, uint32_t bytes,
                                     uint32_t header, vtime now)
{
    struct packet_range block[TCP_BLOCKS];
    int has_twice = h->twice.from < h->twice.to && h->base.options->sack;
    uint8_t blocks = (h->recent_count > 0 || has_twice) && h->base.options->sack
                         ? tcp_receive_blocks(h, block)
                         : 0;
    uint32_t more = blocks ? 4 + 8u * blocks : 0;
    size_t size = sizeof(struct tcp_packet) + blocks * sizeof *block;
    struct packet_route *route = find_route(n, h, now);
    struct tcp_packet *p = (struct tcp_packet *)packet_new(n, &h->base, route, size,
                                                           bytes + header + more);

    p->bytes = bytes;
    p->ack = h->received;
    p->edge = tcp_receive_edge(h, now);
    p->stamp = now;
    p->echo = h->echo;
    p->flags = (h->is_marked ? TCP_ECHO : 0) | (has_twice ? TCP_TWICE : 0);
    p->blocks = blocks;
    memcpy(p->block, block, blocks * sizeof *block);
    tcp_receive_said(n, h, now);
    return p;
}

void tcp_send_empty(struct packet_net *n, struct tcp_half *h, uint8_t flags, vtime now)
{
    struct tcp_packet *p = new_packet(n, h, 0, flags & TCP_SYN ? TCP_SYN_HEADER : TCP_HEADER, now);

    p->seq = h->next;
    p->flags |= flags;
    n->fabric->enqueue(n, &p->base, now);
}

static void send_data(struct packet_net *n, struct tcp_half *h, uint64_t seq, uint64_t bytes,
                      int is_new, vtime now)
{
    struct tcp_packet *p = new_packet(n, h, (uint32_t)bytes, TCP_HEADER, now);

    p->seq = seq;
    if (is_new && h->has_reduced) {
        p->flags |= TCP_REDUCED;
        h->has_reduced = 0;
    }
    h->sent_at = now;
    if (now - h->received_at < h->base.options->delayed_ack && h->received_at >= 0)
        h->is_answering = 1;
    if (is_new) /* what is sent again is not marked, so that nobody is told twice (RFC 3168) */
        p->base.flags |= PACKET_CAN_MARK;
    n->fabric->enqueue(n, &p->base, now);
}

void tcp_send_new(struct packet_net *n, struct tcp_half *h, uint64_t bytes, vtime now)
{
    uint64_t seq = h->next;

    h->next += bytes;
    tcp_segments_push(&h->segments, h->next, now);
    if (h->base.options->congestion->wants_rate)
        tcp_rate_sent(h, h->segments.end - 1, now);
    send_data(n, h, seq, bytes, 1, now);
}

void tcp_send_again(struct packet_net *n, struct tcp_half *h, uint32_t number, vtime now)
{
    struct tcp_segments *s = &h->segments;
    uint64_t seq = number == s->first ? h->base.acked : tcp_segments_at(s, number - 1)->end;

    n->counts[NET_RETRANSMITTED]++;
    LOG_LINE(NET, INFO, LOG_NO_RANK, now, "TCP sends segment %u again", number);
    tcp_segments_resend(s, number, now);
    if (h->base.options->congestion->wants_rate)
        tcp_rate_sent(h, number, now);
    send_data(n, h, seq, tcp_segments_at(s, number)->end - seq, 0, now);
}

/* ---- timers ---- */

static void set_timer(struct packet_net *n, struct tcp_half *h)
{
    vtime t = h->resend_at < h->ack_at ? h->resend_at : h->ack_at, loss = tcp_rack_next(h);

    t = t < loss ? t : loss;
    t = t < h->room_at ? t : h->room_at;
    if (t != VTIME_NEVER)
        packet_stream_timer(n, &h->base, t);
}

/* All is acknowledged, and the receiver takes no more of what there is. */
static int is_shut(const struct tcp_half *h)
{
    return h->next == h->base.acked && h->next >= h->offered &&
           packet_stream_limit(&h->base) > h->next;
}

void tcp_restart(struct packet_net *n, struct tcp_half *h, vtime now)
{
    int waits = h->state == TCP_OPEN ? h->next > h->base.acked || is_shut(h)
                                     : h->state != TCP_CLOSED;

    h->resend_at = waits ? vtime_add(now, h->rto) : VTIME_NEVER;
    tcp_rack_plan(h, now);
    set_timer(n, h);
}

static void back_off(struct tcp_half *h)
{
    h->rto = h->rto < RTO_MOST / 2 ? 2 * h->rto : RTO_MOST;
}

/* One segment at first: its acknowledgement shows more. */
static void time_out(struct packet_net *n, struct tcp_half *h, vtime now)
{
    tcp_recovery_time_out(h, now);
    packet_stream_window(&h->base, now, h->window * (uint64_t)h->mss);
    tcp_output(n, h, now);
}

/* The window that the receiver has opened since may be lost. */
static void probe_window(struct packet_net *n, struct tcp_half *h, vtime now)
{
    back_off(h);
    tcp_send_empty(n, h, TCP_PROBE, now);
    tcp_restart(n, h, now);
}

static void resend(struct packet_net *n, struct tcp_half *h, vtime now)
{
    if (h->state == TCP_OPEN && is_shut(h)) {
        probe_window(n, h, now);
        return;
    }
    n->counts[NET_TIMEOUTS]++;
    back_off(h);
    if (h->state == TCP_OPEN) {
        time_out(n, h, now);
    } else {
        n->counts[NET_RETRANSMITTED]++;
        tcp_send_empty(n, h, h->state == TCP_SYN_SENT ? TCP_SYN : TCP_SYN | TCP_ACK, now);
    }
    tcp_restart(n, h, now);
}

static void timer(struct packet_net *n, struct packet_stream *s, vtime now)
{
    struct tcp_half *h = own(s);

    if (h->ack_at <= now) {
        h->is_answering = 0; /* there was nothing that the acknowledgement could go with */
        tcp_send_empty(n, h, 0, now);
    }
    if (tcp_rack_next(h) <= now)
        tcp_rack_expire(n, h, now);
    else if (h->resend_at <= now)
        resend(n, h, now);
    if (h->room_at <= now)
        tcp_output(n, h, now);
    set_timer(n, h);
}

/* ---- sending ---- */

uint64_t tcp_next_new(const struct tcp_half *h)
{
    uint64_t limit = packet_stream_limit(&h->base), bytes;
    int is_quiet = h->next == h->base.acked;

    if (limit > h->offered)
        limit = h->offered;
    bytes = limit - h->next;
    if (h->next >= limit)
        return 0;
    if (bytes >= h->mss)
        return h->mss;
    if (is_quiet || (limit == h->base.end && !h->base.options->nagle))
        return bytes;
    return 0; /* a small segment waits for more bytes, or for an acknowledgement (Nagle) */
}

/* Does the window fall if it is not used? */
static int restarts(const struct tcp_half *h)
{
    return h->base.options->restart_idle && !h->base.options->congestion->sets_window;
}

/* A window that was not used for a while says nothing about the network any longer (RFC 2861). Who
 * waits for the send buffer would use it. */
static void decay(struct tcp_half *h, uint32_t out, vtime now)
{
    uint32_t used = h->lately > out ? h->lately : out;

    h->lately = used;
    if (!restarts(h) || now - h->used_at < h->rto)
        return;
    used = used > h->base.options->initial_window ? used : h->base.options->initial_window;
    if (h->recovery == TCP_NORMAL && used < h->window &&
        packet_stream_limit(&h->base) == h->base.end) {
        h->threshold = tcp_recovery_threshold(h);
        h->window = (h->window + used) / 2;
    }
    h->lately = 0;
    h->used_at = now;
}

/* How much of the window is used, for data of a window at a time. */
static void note_use(struct tcp_half *h, int is_limited, vtime now)
{
    uint32_t out = tcp_segments_count(&h->segments);

    if (h->base.acked >= h->used_end || is_limited || (!h->is_limited && out > h->used)) {
        h->is_limited = (uint8_t)is_limited;
        h->used = out;
        h->used_end = h->next;
    }
    if (h->is_limited || (h->window < h->threshold && h->window < 2 * h->used)) {
        h->lately = 0;
        h->used_at = now;
    } else {
        decay(h, out, now);
    }
}

/* The connection was idle: its window says nothing about the network any longer (RFC 5681, section
 * 4.1). As in Linux it is halved for each retransmission time, down to that of the beginning. */
static void restart_idle(struct tcp_half *h, vtime now)
{
    uint32_t least = h->base.options->initial_window;
    vtime idle = now - h->sent_at;

    h->threshold = tcp_recovery_threshold(h);
    while ((idle -= h->rto) > 0 && h->window > least)
        h->window = h->window / 2 > least ? h->window / 2 : least;
    h->lately = 0;
    h->used_at = now;
}

/* What is sent in a millisecond if a window, or two in slow start, is in a round trip. */
static uint32_t batch_size(const struct tcp_half *h)
{
    uint64_t least = 2 * (uint64_t)h->mss, fifths = h->window < h->threshold / 2 ? 10 : 6, bytes;
    uint64_t window = h->window * (uint64_t)h->mss;

    if (h->srtt < VTIME_US)
        return BATCH_MOST;
    bytes = (uint64_t)((unsigned __int128)window * fifths * VTIME_MS / (5 * (uint64_t)h->srtt));
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

/* ---- pacing ---- */

static int is_early(struct tcp_half *h, vtime now)
{
    if (h->pace_at <= now)
        return 0;
    h->room_at = h->pace_at;
    return 1;
}

/* The next segment leaves when this one has had its time. */
static void pace(struct tcp_half *h, uint64_t bytes, vtime now)
{
    const struct tcp_congestion_ops *ops = h->base.options->congestion;
    uint64_t rate = ops->pacing ? ops->pacing(h) : 0;

    if (rate > 0 && h->next > UNPACED * (uint64_t)h->mss)
        h->pace_at = vtime_add(now, (vtime)((unsigned __int128)bytes * VTIME_S / rate));
}

/* A segment that is lost is sent again. */
static void repeat(struct packet_net *n, struct tcp_half *h, uint32_t number, vtime now)
{
    struct tcp_repair *r = &h->repair;

    if (r->resent_at < 0)
        r->resent_at = now;
    r->undo_left = r->undo_left < 0 ? 1 : r->undo_left + 1;
    tcp_send_again(n, h, number, now);
    if (number == h->segments.first)
        h->resend_at = vtime_add(now, h->rto);
}

/* What is to be sent next: the number of a lost segment, or that of a new one and its bytes. False:
 * nothing. */
static int find_next(struct tcp_half *h, uint32_t *number, uint64_t *bytes, vtime now)
{
    struct tcp_segments *s = &h->segments;
    int only_new = h->repair.only_new;

    *number = only_new ? s->end : tcp_segments_next_lost(s);
    if (*number != s->end)
        return 1;
    *bytes = tcp_next_new(h);
    if (*bytes == 0)
        return 0;
    if (h->next == h->base.acked && restarts(h) && now - h->sent_at > h->rto)
        restart_idle(h, now);
    return 1;
}

/* Nothing was in flight. */
static void start(struct tcp_half *h, vtime now)
{
    const struct tcp_congestion_ops *ops = h->base.options->congestion;

    h->resend_at = vtime_add(now, h->rto);
    if (ops->on_start)
        ops->on_start(h, now - h->sent_at, now);
}

static void send_next(struct packet_net *n, struct tcp_half *h, uint32_t number, uint64_t bytes,
                      vtime now)
{
    if (number != h->segments.end) {
        uint64_t from = number == h->segments.first
                            ? h->base.acked
                            : tcp_segments_at(&h->segments, number - 1)->end;

        bytes = tcp_segments_at(&h->segments, number)->end - from;
        repeat(n, h, number, now);
    } else {
        if (h->next == h->base.acked)
            start(h, now);
        tcp_send_new(n, h, bytes, now);
    }
    h->repair.sent += (uint32_t)tcp_recovery_reduces(h);
    fill_batch(h, bytes);
    pace(h, bytes, now);
}

/* Without new data, a trial after a timeout says nothing. */
static int end_trial(struct tcp_half *h)
{
    struct tcp_repair *r = &h->repair;

    if (!r->only_new || h->next > r->end)
        return 0;
    r->only_new = r->is_trial = 0;
    return 1;
}

/* Is there nothing to send? */
static int is_idle(struct tcp_half *h)
{
    return h->next == h->base.end && tcp_segments_next_lost(&h->segments) == h->segments.end;
}

void tcp_output(struct packet_net *n, struct tcp_half *h, vtime now)
{
    int is_small = h->base.options->small_queue && !n->fabric->flow, has_sent = 0, is_limited = 0;
    uint64_t bytes = 0;
    uint32_t number;

    h->room_at = VTIME_NEVER;
    do {
        while (find_next(h, &number, &bytes, now)) {
            is_limited = tcp_segments_in_flight(&h->segments) >= h->window;
            if (is_limited || is_early(h, now) || (is_small && !has_room(h, now)))
                break;
            if (__builtin_expect(h->base.epoch != n->epoch, 0)) { /* links have changed */
                find_route(n, h, now);
                continue;
            }
            send_next(n, h, number, bytes, now);
            has_sent = 1;
        }
    } while (end_trial(h));
    if (h->base.options->congestion->wants_rate && !is_limited && is_idle(h))
        tcp_rate_limited(h);
    if (has_sent || is_limited)
        note_use(h, is_limited || tcp_segments_in_flight(&h->segments) >= h->window, now);
    if (h->resend_at == VTIME_NEVER && is_shut(h))
        tcp_restart(n, h, now);
    if (has_sent || h->room_at != VTIME_NEVER) {
        tcp_rack_plan(h, now);
        set_timer(n, h);
    }
}

/* ---- connections ---- */

static void half_init(struct tcp_half *h, struct tcp_half *peer)
{
    h->peer = peer;
    h->threshold = TCP_UNLIMITED;
    h->rto = h->base.options->first_rto;
    h->resend_at = h->ack_at = h->reorder_at = h->probe_at = h->room_at = VTIME_NEVER;
    h->offered = h->base.options->receive_buffer;
    h->edge = h->peer->base.options->receive_buffer;
    h->repair.undo_from = UINT64_MAX;
    h->repair.resent_at = -1;
    h->rack.steps = 1;
    h->rack.sent = -1;
    h->echo = h->received_at = -1;
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
    tcp_segments_fini(&own(s)->segments);
    tcp_rate_fini(own(s));
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
    "net.packet.receive_buffer",
    "net.packet.read_bandwidth",
    "net.packet.congestion",
    "net.packet.initial_window",
    "net.packet.window_scale",
    "net.packet.min_rto",
    "net.packet.first_rto",
    "net.packet.delayed_ack",
    "net.packet.sack",
    "net.packet.nagle",
    "net.packet.target_delay",
    "net.packet.hystart",
    "net.packet.rack",
    "net.packet.restart_idle",
    "net.packet.small_queue",
    "net.packet.jitter",
    NULL,
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
