/*
 * tcp_rack.c - TCP: what is lost, and when that is known (RFC 8985, as Linux has it).
 *
 * A segment is lost if one that was sent later has arrived, and it has not although a round trip
 * and the window for reordering have passed since it was sent. That holds for segments that were
 * sent again, too: one that is lost again is found by what was sent after it. The window is 0 in a
 * recovery and behind three segments that have arrived, as long as the network has not reordered
 * anything; otherwise a quarter of the least round trip, and more after a D-SACK.
 *
 * If nothing comes any longer: two round trips after the last segment was sent, it or a new one is
 * sent as a probe, whose acknowledgement shows what is missing.
 *
 * With net.packet.rack=false, what lies below three segments that have arrived is lost (RFC 6675);
 * without selective acknowledgements, the first segment after three duplicates, and in a recovery
 * the first behind what is acknowledged (RFC 6582).
 */
#include "net/packet/tcp.h"

#define PERSISTS 16 /* recoveries that keep a wide window for reordering */

/* ---- by time ---- */

static int sent_before(const struct tcp_segment *seg, const struct tcp_rack *r)
{
    return seg->sent < r->sent || (seg->sent == r->sent && seg->end < r->end);
}

void tcp_rack_advance(struct tcp_half *h, const struct tcp_segment *seg,
                      const struct tcp_ack_news *news)
{
    struct tcp_rack *r = &h->rack;
    vtime rtt = news->now - seg->sent;

    /* Which of two sendings has arrived? Not the last one, if that is too soon. */
    if (seg->flags & TCP_SEGMENT_EVER && rtt < h->least_rtt)
        return;
    r->advanced = 1;
    r->rtt = rtt;
    if (seg->sent > r->sent || (seg->sent == r->sent && seg->end > r->end)) {
        r->sent = seg->sent;
        r->end = seg->end;
    }
}

void tcp_rack_adapt(struct tcp_half *h, const struct tcp_ack_news *news)
{
    struct tcp_rack *r = &h->rack;

    if (r->has_twice && news->delivered >= r->widened) {
        r->steps += r->steps < UINT8_MAX;
        r->widened = h->delivered;
        r->persists = PERSISTS;
    } else if (r->persists == 0) {
        r->steps = 1;
    }
    r->has_twice = 0;
}

static vtime window_for_reordering(const struct tcp_half *h)
{
    vtime window = h->least_rtt / 4 * h->rack.steps;

    if (!h->has_reordered && (h->recovery >= TCP_FAST || h->segments.sacked >= TCP_DUPLICATES))
        return 0;
    return window < h->srtt ? window : h->srtt;
}

/* Loses a segment that was sent before the last that has arrived, or says how long it waits. */
static vtime lose(struct tcp_half *h, uint32_t number, vtime window, vtime now)
{
    vtime left = tcp_segments_at(&h->segments, number)->sent + h->rack.rtt + window - now;

    if (left > 0)
        return left;
    tcp_segments_lose(&h->segments, number);
    return 0;
}

/* Of those that were sent once: they were sent in order. */
static vtime find_first(struct tcp_half *h, vtime window, vtime now)
{
    struct tcp_segments *s = &h->segments;
    vtime most = 0;
    uint32_t i;

    if (tcp_segments_before(s->next_first, s->first))
        s->next_first = s->first;
    for (i = s->next_first; i != s->end; i++) {
        const struct tcp_segment *seg = tcp_segments_at(s, i);

        if (!(seg->flags & TCP_SEGMENT_EVER) && tcp_segment_waits(seg)) {
            vtime left;

            if (!sent_before(seg, &h->rack))
                break;
            left = lose(h, i, window, now);
            most = left > most ? left : most;
            if (left > 0)
                continue;
        }
        s->next_first += i == s->next_first;
    }
    return most;
}

/* Of those that were sent again. */
static vtime find_again(struct tcp_half *h, vtime window, vtime now)
{
    struct tcp_segments *s = &h->segments;
    vtime most = 0;

    for (uint32_t i = s->resend_first; i != s->resend_end; i++) {
        const struct tcp_resend *resend = &s->resends[i & (s->resend_room - 1)];
        const struct tcp_segment *seg = tcp_segments_at(s, resend->number);

        if (!tcp_segments_before(resend->number, s->first) && seg->sent == resend->sent &&
            tcp_segment_waits(seg)) {
            vtime left;

            if (!sent_before(seg, &h->rack))
                break;
            left = lose(h, resend->number, window, now);
            most = left > most ? left : most;
            if (left > 0)
                continue;
        }
        s->resend_first += i == s->resend_first;
    }
    return most;
}

/* Returns how long some of what was sent before the last that has arrived still waits. */
static vtime find_by_time(struct tcp_half *h, vtime now)
{
    vtime window = window_for_reordering(h);
    vtime first = find_first(h, window, now), again = find_again(h, window, now);

    return first > again ? first : again;
}

/* ---- by number ---- */

static void lose_first(struct tcp_segments *s)
{
    if (tcp_segments_count(s) > 0 && !(tcp_segments_at(s, s->first)->flags & TCP_SEGMENT_LOST))
        tcp_segments_lose(s, s->first);
    tcp_segments_limit(s);
}

/* Three of those behind it have arrived. */
static void find_by_count(struct tcp_segments *s)
{
    uint32_t behind = 0, i = s->end;

    if (s->sacked < TCP_DUPLICATES)
        return;
    while (i != s->first && behind < TCP_DUPLICATES)
        behind += tcp_segments_at(s, --i)->flags & TCP_SEGMENT_SACKED;
    if (tcp_segments_before(s->next_first, s->first))
        s->next_first = s->first;
    for (; tcp_segments_before(s->next_first, i); s->next_first++) {
        const struct tcp_segment *seg = tcp_segments_at(s, s->next_first);

        if (tcp_segment_waits(seg) && !(seg->flags & TCP_SEGMENT_EVER))
            tcp_segments_lose(s, s->next_first);
    }
}

void tcp_rack_find(struct tcp_half *h, vtime now)
{
    struct tcp_segments *s = &h->segments;
    vtime left;

    if (!h->base.options->sack) {
        if (h->recovery == TCP_FAST || s->sacked >= TCP_DUPLICATES)
            lose_first(s);
    } else if (!h->base.options->rack) {
        find_by_count(s);
    } else if (h->rack.advanced) {
        h->rack.advanced = 0;
        left = find_by_time(h, now);
        h->reorder_at = left > 0 ? vtime_add(now, left + TCP_SLACK) : VTIME_NEVER;
    }
}

/* Nothing that was missing has come in time. */
static void end_reordering(struct packet_net *n, struct tcp_half *h, vtime now)
{
    uint32_t before = h->segments.losses;
    vtime left = find_by_time(h, now);

    h->reorder_at = left > 0 ? vtime_add(now, left + TCP_SLACK) : VTIME_NEVER;
    if (h->segments.losses == before)
        return;
    tcp_recovery_begin(h, now);
    tcp_output(n, h, now);
}

/* ---- probes ---- */

void tcp_rack_plan(struct tcp_half *h, vtime now)
{
    const struct packet_options *o = h->base.options;
    const struct tcp_segments *s = &h->segments;
    uint32_t out = tcp_segments_count(s);
    vtime wait = 2 * h->srtt;

    h->probe_at = VTIME_NEVER;
    if (!o->rack || !o->sack || h->recovery > TCP_REDUCING || s->sacked > 0 || s->lost > 0 ||
        out == 0 || h->srtt == 0 || h->probed > 0)
        return;
    /* The acknowledgement of a single segment may be delayed. */
    wait += out == 1 ? o->min_rto : TCP_SLACK;
    h->probe_at = vtime_add(now, wait);
    if (h->probe_at > h->resend_at)
        h->probe_at = h->resend_at;
}

static void probe(struct packet_net *n, struct tcp_half *h, vtime now)
{
    uint64_t bytes = tcp_next_new(h);

    h->probe_at = VTIME_NEVER;
    h->has_repeated = bytes == 0;
    if (bytes > 0)
        tcp_send_new(n, h, bytes, now);
    else
        tcp_send_again(n, h, h->segments.end - 1, now);
    h->probed = h->next;
    h->resend_at = vtime_add(now, h->rto);
}

/* If the probe repeated a segment and the receiver had not got it before, it was lost. That is only
 * known when something behind it is acknowledged: the D-SACK may come later than the
 * acknowledgement. */
int tcp_rack_probed(struct tcp_half *h, const struct tcp_ack_news *news)
{
    uint64_t ack = news->packet->ack;

    if (h->probed == 0 || ack < h->probed)
        return 0;
    if (!h->has_repeated || news->packet->flags & TCP_TWICE) {
        h->probed = 0;
    } else if (ack > h->probed) {
        h->probed = 0;
        return 1;
    } else if (!news->advances && !news->reports && news->packet->bytes == 0) {
        h->probed = 0;
    }
    return 0;
}

vtime tcp_rack_next(const struct tcp_half *h)
{
    return h->probe_at < h->reorder_at ? h->probe_at : h->reorder_at;
}

void tcp_rack_expire(struct packet_net *n, struct tcp_half *h, vtime now)
{
    if (h->reorder_at <= now)
        end_reordering(n, h, now);
    if (h->probe_at <= now)
        probe(n, h, now);
}
