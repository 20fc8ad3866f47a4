/*
 * tcp_receive.c - TCP: data that has arrived, and when it is acknowledged, as Linux does it.
 *
 * At once
 *     - for more than a segment,
 *     - for a small segment, which ends what the other side had to send, unless this side answers,
 *     - at the beginning and after a pause, when the window of the sender may be small,
 *     - if something is missing, or came twice, or the last gap is filled.
 *
 * Otherwise net.packet.delayed_ack later, or with the next data. While something is missing, only
 * the first three acknowledgements are sent at once, others together.
 *
 * The program takes data that has arrived in order from the receive buffer, at once or at
 * net.packet.read_bandwidth; what it has not taken makes the window smaller that is offered.
 */
#include "net/packet/tcp.h"

#include <string.h>

#define QUICK 16          /* acknowledgements at the beginning that are not delayed */
#define HELD_MOST 44      /* acknowledgements of a gap that are sent as one, at most */
#define HELD_FOR VTIME_MS /* the longest that they are held back */
#define HELD_PART 20      /* likewise: 1 / HELD_PART of a round trip */

/* ---- what a packet says ---- */

/* The range of what came early that has this byte; NULL: it is no longer early. */
static const struct packet_range *range_of(const struct packet_ranges *r, uint64_t byte)
{
    for (uint32_t i = r->count; i-- > 0;)
        if (r->at[i].from <= byte)
            return byte < r->at[i].to ? &r->at[i] : NULL;
    return NULL;
}

uint8_t tcp_receive_blocks(const struct tcp_half *h, struct packet_range *block)
{
    uint8_t n = 0;

    if (h->twice.from < h->twice.to)
        block[n++] = h->twice;
    for (uint32_t i = 0; i < h->recent_count && n < TCP_BLOCKS; i++) {
        const struct packet_range *r = range_of(&h->early, h->recent[i]);

        if (r)
            block[n++] = *r;
    }
    return n;
}

/* ---- the window ---- */

static void wait(struct packet_net *n, struct tcp_half *h, vtime at)
{
    if (at < h->ack_at) {
        h->ack_at = at;
        packet_stream_timer(n, &h->base, at);
    }
}

static uint64_t buffer_of(const struct tcp_half *h)
{
    return h->peer->base.options->receive_buffer;
}

/* What the program has taken. */
static uint64_t taken(const struct tcp_half *h, vtime now)
{
    uint64_t each = h->peer->base.options->read_time, left;

    if (h->read_at <= now || each == 0)
        return h->received;
    left = (uint64_t)(((unsigned __int128)(h->read_at - now) << 20) / each) + 1;
    return left < h->received ? h->received - left : 0;
}

/* So much more room is worth telling: a window does not grow by small steps. */
static uint64_t least_step(const struct tcp_half *h)
{
    uint64_t half = buffer_of(h) / 2;

    return half < h->peer->mss ? half : h->peer->mss;
}

/* It never moves back. */
uint64_t tcp_receive_edge(struct tcp_half *h, vtime now)
{
    uint64_t edge = taken(h, now) + buffer_of(h);

    if (edge > h->edge && edge >= h->received + least_step(h))
        h->edge = edge;
    return h->edge;
}

/* A sender that has less than half of the buffer before it is told when it may have twice as much,
 * as Linux does. */
static void plan_edge(struct packet_net *n, struct tcp_half *h, vtime now)
{
    uint64_t open = h->edge - h->received, step = least_step(h), buffer = buffer_of(h), wanted;
    vtime at;

    if (h->read_at <= now || 2 * open > buffer)
        return;
    wanted = 2 * open > step ? 2 * open : step;
    at = h->read_at - vtime_mul_q(buffer - wanted, h->peer->base.options->read_time) + VTIME_NS;
    wait(n, h, at > now ? at : now + VTIME_NS);
}

void tcp_receive_said(struct packet_net *n, struct tcp_half *h, vtime now)
{
    h->said = h->received;
    h->twice = (struct packet_range){0, 0};
    h->quick -= h->quick > 0;
    h->held = 0;
    h->must_ack = 0;
    h->ack_at = VTIME_NEVER;
    plan_edge(n, h, now);
}

/* ---- when ---- */

static void be_quick(struct tcp_half *h)
{
    uint64_t most = h->base.options->receive_buffer / (2 * (uint64_t)h->mss);
    uint8_t quick = (uint8_t)(most < 2 ? 2 : most < QUICK ? most : QUICK);

    if (h->quick < quick)
        h->quick = quick;
    h->is_answering = 0;
}

/* Something is missing. */
static void plan_gap(struct packet_net *n, struct tcp_half *h, vtime now)
{
    vtime hold = h->srtt / HELD_PART < HELD_FOR ? h->srtt / HELD_PART : HELD_FOR;

    if (h->duplicates < TCP_DUPLICATES || hold == 0 || h->held >= HELD_MOST ||
        !h->base.options->sack) {
        h->duplicates += h->duplicates < TCP_DUPLICATES;
        h->must_ack = 1;
    } else {
        h->held++;
        wait(n, h, vtime_add(now, hold));
    }
}

static void plan_ack(struct packet_net *n, struct tcp_half *h, const struct tcp_packet *p,
                     vtime now)
{
    uint32_t full = h->peer->mss;
    int is_end = p->bytes < full && !h->is_answering;

    if (h->must_ack)
        return;
    if (h->received - h->said > full || h->base.options->congestion->acks_at_once ||
        (h->quick > 0 && !h->is_answering) || h->base.options->delayed_ack == 0)
        h->must_ack = 1;
    else if (h->early.count > 0)
        plan_gap(n, h, now);
    else if (is_end)
        h->must_ack = 1;
    else
        wait(n, h, vtime_add(now, h->base.options->delayed_ack));
}

/* ---- data ---- */

/* The range in which something came last is reported first (RFC 2018). If so many are new that a
 * packet could not report them all, it goes now. */
static void note_recent(struct tcp_half *h, uint64_t byte)
{
    const struct packet_range *r = range_of(&h->early, byte);
    uint64_t old[TCP_RECENT];
    uint8_t count = h->recent_count, at = count;

    memcpy(old, h->recent, sizeof old);
    h->recent[0] = byte;
    h->recent_count = 1;
    for (uint8_t i = 0; i < count; i++) {
        if (old[i] >= r->from && old[i] < r->to)
            at = at < i ? at : i;
        else if (h->recent_count < TCP_RECENT)
            h->recent[h->recent_count++] = old[i];
    }
    if (h->held > 0 && at >= TCP_BLOCKS - 1)
        h->must_ack = 1;
}

static void drop_recent(struct tcp_half *h)
{
    uint8_t kept = 0;

    for (uint8_t i = 0; i < h->recent_count; i++)
        if (h->recent[i] >= h->received)
            h->recent[kept++] = h->recent[i];
    h->recent_count = kept;
}

/* Behind a gap, or into one. */
static void take_early(struct tcp_half *h, const struct tcp_packet *p)
{
    uint64_t end = p->seq + p->bytes, from = p->seq > h->received ? p->seq : h->received;
    const struct packet_range *r = range_of(&h->early, from);

    if (r && end <= r->to)
        h->twice = (struct packet_range){p->seq, end};
    packet_ranges_add(&h->early, from, end);
    if (h->early.at[0].from > h->received) {
        note_recent(h, from);
        return;
    }
    h->received = h->early.at[0].to;
    packet_ranges_cut(&h->early, h->received);
    drop_recent(h);
    h->duplicates = 0;
    if (h->early.count == 0)
        h->must_ack = 1;
}

/* All that an acknowledgement is for is marked, or nothing is (RFC 8257, section 3.2). */
static void take_each_mark(struct packet_net *n, struct tcp_half *h, uint8_t is_marked, vtime now)
{
    if (is_marked != h->is_marked && h->received > h->said)
        tcp_send_empty(n, h, 0, now);
    h->is_marked = is_marked;
}

static void take_marks(struct packet_net *n, struct tcp_half *h, const struct tcp_packet *p,
                       vtime now)
{
    if (h->base.options->congestion->echoes_each) {
        take_each_mark(n, h, (p->base.flags & PACKET_MARKED) != 0, now);
        return;
    }
    if (p->flags & TCP_REDUCED) {
        h->is_marked = 0;
        h->must_ack = 1;
    }
    if (p->base.flags & PACKET_MARKED) {
        if (!h->is_marked && h->quick < 2) {
            h->quick = 2;
            h->is_answering = 0;
        }
        h->is_marked = 1;
    }
}

void tcp_receive(struct packet_net *n, struct tcp_half *h, const struct tcp_packet *p, vtime now)
{
    uint64_t end = p->seq + p->bytes, before = h->received;

    if (h->received_at < 0 || now - h->received_at > h->rto)
        be_quick(h);
    h->received_at = now;
    take_marks(n, h, p, now);
    if (p->seq <= h->said)
        h->echo = p->stamp; /* of the first segment that the next acknowledgement is for */
    if (end <= h->received) {
        h->twice = (struct packet_range){p->seq, end};
        be_quick(h);
        h->must_ack = 1;
    } else if (p->seq == h->received && h->early.count == 0) {
        h->received = end;
    } else {
        take_early(h, p);
    }
    h->read_at = vtime_add(h->read_at > now ? h->read_at : now,
                           vtime_mul_q(h->received - before, h->peer->base.options->read_time));
    packet_stream_arrived(n, &h->peer->base, h->received, h->read_at);
    plan_ack(n, h, p, now);
    plan_edge(n, h, now);
}
