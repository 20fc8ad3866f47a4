/*
 * tcp_loss.c - TCP: what is lost, and when that is known.
 *
 *     - when three segments that were sent later have arrived (RFC 6675; without selective
 *       acknowledgements three duplicates, RFC 5681),
 *     - when one has, and a quarter of a round trip has passed since (RACK, RFC 8985). The segments
 *       of a connection take one route, so all that was sent before it counts; in a recovery at
 *       once,
 *     - when nothing comes any longer: two round trips after the last segment was sent, it or a
 *       new one is sent as a probe, whose acknowledgement shows what is missing (section 7 there),
 *     - and at last by the retransmission timer, which is all there is for a segment that was sent
 *       again and is lost again.
 */
#include "net/packet/tcp.h"

#define DUPLICATES 3               /* that mean a loss */
#define PROBE_SLACK (2 * VTIME_MS) /* of timers, as in Linux */

/* ---- segments that came later ---- */

static void grow_lost(struct tcp_half *h, uint64_t to)
{
    if (to > h->lost_to)
        h->lost_to = to;
}

static void find_by_duplicates(struct tcp_half *h)
{
    uint64_t first = h->base.acked;

    if (h->duplicates >= DUPLICATES && h->lost_to <= first)
        h->lost_to = first + h->mss < h->next ? first + h->mss : h->next;
}

/* What lies below bytes that the receiver has is lost, if these are three segments or more, and the
 * first gap is lost after three duplicates. */
static void find_by_ranges(struct tcp_half *h)
{
    const struct packet_ranges *r = &h->sacked;
    uint64_t above = 0;

    if (r->count == 0)
        return;
    if (h->recovery == TCP_FAST && h->base.options->rack)
        grow_lost(h, r->at[r->count - 1].from);
    if (h->duplicates >= DUPLICATES)
        grow_lost(h, r->at[0].from);
    for (uint32_t i = r->count; i-- > 0;) {
        above += r->at[i].to - r->at[i].from;
        if (above > (DUPLICATES - 1) * (uint64_t)h->mss) {
            grow_lost(h, r->at[i].from);
            return;
        }
    }
}

static void recover(struct tcp_half *h)
{
    if (h->recovery != TCP_NORMAL || h->lost_to <= h->base.acked)
        return;
    h->recovery = TCP_FAST;
    h->recover = h->next;
    h->resent_to = h->base.acked;
    h->probe_at = VTIME_NEVER;
    tcp_reduce(h);
}

void tcp_loss_find(struct packet_net *n, struct tcp_half *h, vtime now)
{
    if (h->base.options->sack)
        find_by_ranges(h);
    else
        find_by_duplicates(h);
    recover(h);
    if (h->sacked.count == 0 || h->recovery != TCP_NORMAL || !h->base.options->rack) {
        h->reorder_at = VTIME_NEVER;
    } else if (h->reorder_at == VTIME_NEVER) {
        h->reorder_at = vtime_add(now, h->srtt / 4);
        packet_stream_timer(n, &h->base, h->reorder_at);
    }
}

/* Nothing that was missing has come in time. */
static void end_reordering(struct packet_net *n, struct tcp_half *h, vtime now)
{
    h->reorder_at = VTIME_NEVER;
    grow_lost(h, h->sacked.at[h->sacked.count - 1].from);
    recover(h);
    tcp_output(n, h, now);
}

/* ---- probes ---- */

void tcp_loss_plan(struct tcp_half *h, vtime now)
{
    const struct packet_options *o = h->base.options;
    uint64_t out = h->next - h->base.acked;
    vtime wait = 2 * h->srtt + PROBE_SLACK;

    h->probe_at = VTIME_NEVER;
    if (!o->rack || !o->sack || h->recovery != TCP_NORMAL || h->sacked.count > 0 || h->srtt == 0 ||
        h->probed > h->base.acked)
        return;
    /* The acknowledgement of a single segment may be delayed, and the timer is not much later. */
    if (out > h->mss && wait < h->rto)
        h->probe_at = vtime_add(now, wait);
}

static void probe(struct packet_net *n, struct tcp_half *h, vtime now)
{
    uint64_t bytes = tcp_next_new(h), out = h->next - h->base.acked;

    h->probe_at = VTIME_NEVER;
    h->has_repeated = bytes == 0;
    if (bytes > 0) {
        h->next += bytes;
    } else {
        bytes = out < h->mss ? out : h->mss;
        n->counts[NET_RETRANSMITTED]++;
    }
    h->probed = h->next;
    tcp_send_data(n, h, h->next - bytes, bytes, now);
    tcp_restart(n, h, now);
}

/* If the probe repeated a segment and the receiver had not got it before, it was lost. */
void tcp_loss_acked(struct tcp_half *h, const struct tcp_packet *p)
{
    if (h->probed == 0 || p->ack < h->probed)
        return;
    if (h->has_repeated && !(p->flags & TCP_TWICE) && h->recovery == TCP_NORMAL)
        tcp_reduce(h);
    h->probed = 0;
}

vtime tcp_loss_next(const struct tcp_half *h)
{
    return h->probe_at < h->reorder_at ? h->probe_at : h->reorder_at;
}

void tcp_loss_expire(struct packet_net *n, struct tcp_half *h, vtime now)
{
    if (h->reorder_at <= now)
        end_reordering(n, h, now);
    if (h->probe_at <= now)
        probe(n, h, now);
}
