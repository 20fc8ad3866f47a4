/*
 * tcp_input.c - TCP: what a sender does with an acknowledgement, and round trips.
 */
#include "net/packet/tcp.h"

#define RTO_MOST (120 * VTIME_S)

/* ---- round trips ---- */

/* The mean deviation, times four: it grows with a longer round trip at once, and with a shorter one
 * slowly. `variance` is its largest value of a round trip, and at least net.packet.min_rto. */
static void deviate(struct tcp_half *h, vtime off)
{
    vtime more = (off < 0 ? -off : off) - h->deviation / 4, least = h->base.options->min_rto;

    h->deviation += off < 0 && more > 0 ? more / 8 : more;
    if (h->deviation > h->deviation_max)
        h->deviation_max = h->deviation;
    if (h->deviation_max > h->variance)
        h->variance = h->deviation_max;
    if (h->base.acked > h->variance_end) {
        if (h->deviation_max < h->variance)
            h->variance -= (h->variance - h->deviation_max) / 4;
        h->variance_end = h->next;
        h->deviation_max = least;
    }
}

/* RFC 6298, with the variance of Linux. */
static void measure(struct tcp_half *h, vtime sample)
{
    vtime least = h->base.options->min_rto;

    if (h->srtt == 0) {
        h->srtt = sample > 0 ? sample : 1;
        h->deviation = 2 * sample;
        h->variance = h->deviation_max = h->deviation > least ? h->deviation : least;
        h->variance_end = h->next;
    } else {
        vtime off = sample - h->srtt;

        deviate(h, off);
        h->srtt += off / 8;
    }
    h->rto = vtime_add(h->srtt, h->variance);
    if (h->rto > RTO_MOST)
        h->rto = RTO_MOST;
}

/* Karn: not of a segment that was sent again, unless its stamp comes back. */
static void take_round_trip(struct tcp_half *h, struct tcp_ack_news *news)
{
    vtime now = news->now, rtt = -1;

    if (news->first_sent >= 0 && !news->has_resent)
        rtt = now - news->first_sent;
    else if (news->sacked_sent >= 0)
        rtt = now - news->sacked_sent;
    else if (news->advances && news->packet->echo >= 0)
        rtt = now - news->packet->echo;
    if (news->last_sent >= 0) {
        news->rtt = now - news->last_sent;
        if (h->least_rtt == 0 || news->rtt < h->least_rtt)
            h->least_rtt = news->rtt;
    }
    if (rtt < 0)
        return;
    measure(h, rtt);
    packet_stream_rtt(&h->base, now, rtt);
}

/* ---- what has arrived ---- */

/* A segment that was not known to have arrived. */
static void arrive(struct tcp_half *h, uint32_t number, uint64_t start, struct tcp_ack_news *news)
{
    const struct tcp_segment *seg = tcp_segments_at(&h->segments, number);

    news->arrived++;
    if (h->base.options->congestion->wants_rate)
        tcp_rate_arrived(h, number, news);
    /* If its last stamp is not yet echoed, one that was sent before has arrived. What came behind a
     * gap has no echo. */
    if (seg->end > news->packet->ack || !(seg->flags & TCP_SEGMENT_EVER) ||
        news->packet->echo >= seg->sent)
        tcp_rack_advance(h, seg, news);
    if (seg->flags & TCP_SEGMENT_EVER) {
        news->has_resent = 1;
        return;
    }
    if (start < news->reported)
        h->has_reordered = 1; /* it filled a gap, and was sent once */
    if (seg->end <= h->repair.end)
        news->is_plain = 1;
    news->last_sent = seg->sent;
}

/* Bytes that were not known to have arrived: whole segments, unless they were cut anew since. */
static void take_range(struct tcp_half *h, uint64_t from, uint64_t to, struct tcp_ack_news *news)
{
    struct tcp_segments *s = &h->segments;
    uint64_t start = from;

    for (uint32_t i = tcp_segments_find(s, from); i != s->end; i++) {
        struct tcp_segment *seg = tcp_segments_at(s, i);

        if (seg->end > to)
            break;
        if (!(seg->flags & TCP_SEGMENT_SACKED)) {
            if (!(seg->flags & TCP_SEGMENT_EVER) && news->sacked_sent < 0)
                news->sacked_sent = seg->sent;
            arrive(h, i, start, news);
            tcp_segments_sack(s, seg);
        }
        start = seg->end;
    }
    packet_ranges_add(&s->ranges, from, to);
    news->reports = 1;
}

static void take_twice(struct tcp_half *h, const struct packet_range *twice)
{
    struct tcp_repair *r = &h->repair;

    h->rack.has_twice = 1;
    if (r->undo_from != UINT64_MAX && r->undo_left > 0 && twice->to > r->undo_from)
        r->undo_left--;
}

static void take_blocks(struct tcp_half *h, struct tcp_ack_news *news)
{
    const struct tcp_packet *p = news->packet;
    const struct packet_ranges *known = &h->segments.ranges;

    if (p->flags & TCP_TWICE)
        take_twice(h, &p->block[0]);
    for (uint32_t i = p->flags & TCP_TWICE ? 1 : 0; i < p->blocks; i++) {
        uint64_t from = p->block[i].from > p->ack ? p->block[i].from : p->ack, end;

        while ((from = packet_ranges_gap(known, from, &end)) < p->block[i].to) {
            end = end < p->block[i].to ? end : p->block[i].to;
            take_range(h, from, end, news);
        }
    }
}

/* Duplicates count as segments that have arrived, if nobody says which. */
static void take_duplicate(struct tcp_half *h, struct tcp_ack_news *news)
{
    struct tcp_segments *s = &h->segments;

    if (h->recovery == TCP_TIMEOUT || s->sacked + s->lost - s->again + 1 >= tcp_segments_count(s))
        return;
    s->sacked++;
    news->arrived++;
}

static void take_new(struct packet_net *n, struct tcp_half *h, struct tcp_ack_news *news)
{
    struct tcp_segments *s = &h->segments;
    uint64_t ack = news->packet->ack, start = h->base.acked;
    uint32_t all = 0, before = news->arrived, guessed = h->base.options->sack ? 0 : s->sacked;

    for (; s->first != s->end; all++) {
        const struct tcp_segment *seg = tcp_segments_at(s, s->first);

        if (seg->end > ack)
            break;
        if (!(seg->flags & TCP_SEGMENT_SACKED)) {
            arrive(h, s->first, start, news);
            if (news->first_sent < 0 && !(seg->flags & TCP_SEGMENT_EVER))
                news->first_sent = seg->sent;
        }
        start = seg->end;
        tcp_segments_pop(s);
    }
    if (guessed > 0) { /* one filled the gap, and the others were counted as they came */
        uint32_t known = all > 0 && all - 1 < guessed ? all - 1 : guessed;

        s->sacked -= known;
        news->arrived = before + (all > guessed ? all - guessed : 1);
        tcp_segments_limit(s);
    }
    if (s->ranges.count > 0)
        packet_ranges_cut(&s->ranges, ack);
    news->advances = 1;
    h->repair.timeouts = 0;
    packet_stream_ack(n, &h->base, ack, news->now);
}

/* ---- acknowledgements ---- */

/* A window that is not used does not grow (RFC 7661). In slow start it is if it could not have
 * doubled without that. */
static int is_used(const struct tcp_half *h)
{
    return h->is_limited || (h->window < h->threshold && h->window < 2 * h->used);
}

/* Does it tell of more than data that arrived in order? */
static int is_dubious(const struct tcp_half *h, const struct tcp_ack_news *news)
{
    const struct tcp_packet *p = news->packet;

    return h->recovery != TCP_NORMAL || h->segments.sacked > 0 || news->reports || news->is_echo ||
           p->flags & TCP_TWICE || (!news->advances && p->bytes == 0) || h->segments.lost > 0;
}

/* The timer begins anew with new data, and while what was sent before the first segment arrives. */
static int restarts(const struct tcp_half *h, const struct tcp_ack_news *news)
{
    const struct tcp_segments *s = &h->segments;

    return news->advances || (news->sacked_sent >= 0 && tcp_segments_count(s) > 0 &&
                              news->sacked_sent < tcp_segments_at(s, s->first)->sent);
}

static void take_ack(struct packet_net *n, struct tcp_half *h, const struct tcp_packet *p,
                     vtime now)
{
    const struct packet_ranges *known = &h->segments.ranges;
    struct tcp_ack_news news = {.packet = p,
                                .now = now,
                                .before = h->base.acked,
                                .reported = known->count ? known->at[known->count - 1].to : 0,
                                .delivered = h->delivered,
                                .in_flight = tcp_segments_in_flight(&h->segments),
                                .first_sent = -1,
                                .last_sent = -1,
                                .sacked_sent = -1,
                                .rtt = -1,
                                .is_echo = (p->flags & TCP_ECHO) != 0};

    if (p->ack < h->base.acked || (tcp_segments_count(&h->segments) == 0 && p->blocks == 0))
        return;
    if (p->blocks > 0)
        take_blocks(h, &news);
    if (p->ack > h->base.acked)
        take_new(n, h, &news);
    else if (!h->base.options->sack && p->bytes == 0)
        take_duplicate(h, &news);
    h->delivered += news.arrived;
    take_round_trip(h, &news);
    if (h->base.options->congestion->wants_rate)
        tcp_rate_measure(h, &news);
    tcp_rack_adapt(h, &news);
    if (tcp_rack_probed(h, &news))
        tcp_recovery_note(h, now);
    if (is_dubious(h, &news))
        tcp_recovery_ack(h, &news);
    if (tcp_recovery_reduces(h))
        tcp_recovery_reduce(h, &news);
    else
        news.may_grow = news.advances && is_used(h);
    h->base.options->congestion->on_ack(h, &news);
    if (restarts(h, &news))
        tcp_restart(n, h, now);
    packet_stream_window(&h->base, now, h->window * (uint64_t)h->mss);
}

/* ---- opening ---- */

static void open(struct packet_net *n, struct tcp_half *h, const struct tcp_packet *p, vtime now)
{
    h->state = TCP_OPEN;
    h->rto = h->base.options->first_rto;
    h->window = h->base.options->initial_window;
    if (p->echo >= 0) {
        h->least_rtt = now - p->echo;
        measure(h, now - p->echo);
    }
    if (h->base.options->congestion->init)
        h->base.options->congestion->init(h, now);
    h->used_at = now;
    tcp_restart(n, h, now);
}

/* Both may open at the same time; every packet may be lost. */
static void take_syn(struct packet_net *n, struct tcp_half *h, const struct tcp_packet *p,
                     vtime now)
{
    int answers = p->flags & TCP_ACK;

    h->echo = p->stamp;
    if (answers) {
        if (h->state != TCP_OPEN)
            open(n, h, p, now);
        h->must_ack = 1;
        return;
    }
    if (h->state != TCP_OPEN)
        h->state = TCP_SYN_RECEIVED;
    tcp_send_empty(n, h, TCP_SYN | TCP_ACK, now);
    if (h->state == TCP_SYN_RECEIVED)
        tcp_restart(n, h, now);
}

void tcp_input(struct packet_net *n, struct packet *base, vtime now)
{
    struct tcp_packet *p = (struct tcp_packet *)base;
    struct tcp_half *h = ((struct tcp_half *)base->stream)->peer;

    if (p->flags & TCP_SYN) {
        take_syn(n, h, p, now);
    } else {
        if (h->state != TCP_OPEN)
            open(n, h, p, now);
        if (p->edge > h->offered)
            h->offered = p->edge;
        if (p->flags & TCP_PROBE)
            h->must_ack = 1;
        take_ack(n, h, p, now);
        if (p->bytes > 0)
            tcp_receive(n, h, p, now);
    }
    packet_free(n, base);
    if (h->state == TCP_OPEN)
        tcp_output(n, h, now);
    if (h->must_ack)
        tcp_send_empty(n, h, 0, now);
}
