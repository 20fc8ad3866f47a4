/*
 * tcp_input.c - TCP: what a half does with a packet that has arrived.
 */
#include "net/packet/tcp.h"

/* ---- round trips ---- */

/* RFC 6298, section 2. */
static void measure(struct tcp_half *h, vtime sample)
{
    vtime off = h->srtt > sample ? h->srtt - sample : sample - h->srtt;

    if (h->srtt == 0) {
        h->srtt = sample;
        h->rttvar = sample / 2;
    } else {
        h->rttvar += (off - h->rttvar) / 4;
        h->srtt += (sample - h->srtt) / 8;
    }
    h->rto = vtime_add(h->srtt, 4 * h->rttvar);
    if (h->rto < h->base.options->min_rto)
        h->rto = h->base.options->min_rto;
}

/* Returns the round trip; -1: nothing was measured. */
static vtime take_echo(struct tcp_half *h, const struct tcp_packet *p, vtime now)
{
    vtime rtt = now - p->echo;

    if (p->echo < 0 || p->flags & TCP_STALE)
        return -1;
    measure(h, rtt);
    packet_stream_rtt(&h->base, now, rtt);
    return rtt;
}

/* ---- acknowledgements ---- */

/* A window that is not used does not grow (RFC 7661). In slow start it is if it could not have
 * doubled without that. */
static int is_used(const struct tcp_half *h)
{
    return h->is_limited || (h->window < h->threshold && h->window < 2 * h->used);
}

/* Something new was acknowledged. */
static void ack_new(struct packet_net *n, struct tcp_half *h, uint64_t ack, vtime now)
{
    uint64_t acked = ack - h->base.acked;

    packet_ranges_cut(&h->sacked, ack);
    h->duplicates = 0;
    if (h->recovery != TCP_FAST && is_used(h))
        h->base.options->congestion->grow(h, acked, h->mss, now);
    packet_stream_ack(n, &h->base, ack, now);
    if (h->recovery == TCP_NORMAL)
        return;
    if (ack >= h->recover) {
        if (h->recovery == TCP_FAST)
            h->window = h->threshold;
        h->recovery = TCP_NORMAL;
        h->resent_to = h->lost_to = 0;
    } else if (!h->base.options->sack && h->recovery == TCP_FAST) {
        /* The next segment is lost, too (RFC 6582). */
        h->lost_to = ack + h->mss < h->next ? ack + h->mss : h->next;
        h->resent_to = ack;
    }
}

static void take_ack(struct packet_net *n, struct tcp_half *h, const struct tcp_packet *p,
                     vtime now)
{
    vtime rtt = take_echo(h, p, now);

    for (uint32_t i = 0; i < p->blocks; i++)
        if (p->block[i].to > h->base.acked)
            packet_ranges_add(&h->sacked, p->block[i].from > p->ack ? p->block[i].from : p->ack,
                              p->block[i].to);
    if (p->ack > h->base.acked) {
        ack_new(n, h, p->ack, now);
        tcp_loss_acked(h, p);
        if (rtt >= 0 && h->recovery == TCP_NORMAL && h->base.options->hystart &&
            h->base.options->congestion->sample)
            h->base.options->congestion->sample(h, rtt, now);
        tcp_restart(n, h, now);
    } else if (p->ack == h->base.acked && p->bytes == 0 && h->next > p->ack) {
        h->duplicates++;
    }
    if (p->flags & TCP_ECHO && h->recovery == TCP_NORMAL && p->ack > h->reduced) {
        tcp_reduce(h);
        h->has_reduced = 1;
    }
    tcp_loss_find(n, h, now);
    packet_stream_window(&h->base, now, h->window);
}

/* ---- data ---- */

/* When to acknowledge: at once if something is missing, and for more than a segment. */
static void plan_ack(struct packet_net *n, struct tcp_half *h, int in_order, uint32_t bytes,
                     vtime now)
{
    vtime wait = h->base.options->delayed_ack;

    h->unacked += bytes;
    if (!in_order || wait == 0 || h->quick > 0 || h->unacked > h->peer->mss) {
        h->must_ack = 1;
        h->quick -= h->quick > 0;
    } else if (h->ack_at == VTIME_NEVER) {
        h->ack_at = vtime_add(now, wait);
        packet_stream_timer(n, &h->base, h->ack_at);
    }
}

static void take_data(struct packet_net *n, struct tcp_half *h, const struct tcp_packet *p,
                      vtime now)
{
    uint64_t end = p->seq + p->bytes;
    int in_order = p->seq == h->received && h->early.count == 0;

    if (p->base.flags & PACKET_MARKED)
        h->is_marked = 1;
    if (p->seq <= h->received && (h->has_echoed || h->echo < 0 || !in_order)) {
        h->echo = p->stamp; /* of the first segment that the next acknowledgement is for */
        h->has_echoed = 0;
    }
    if (end <= h->received)
        h->has_twice = 1;
    if (in_order) {
        h->received = end;
    } else if (end > h->received) {
        packet_ranges_add(&h->early, p->seq > h->received ? p->seq : h->received, end);
        if (h->early.at[0].from == h->received) {
            h->received = h->early.at[0].to;
            packet_ranges_cut(&h->early, h->received);
        }
    }
    packet_stream_arrived(n, &h->peer->base, h->received, now);
    plan_ack(n, h, in_order, p->bytes, now);
}

/* ---- opening ---- */

static void open(struct packet_net *n, struct tcp_half *h, const struct tcp_packet *p, vtime now)
{
    h->state = TCP_OPEN;
    h->rto = h->base.options->first_rto;
    h->window = h->base.options->initial_window * (uint64_t)h->mss;
    take_echo(h, p, now);
    tcp_restart(n, h, now);
}

/* Both may open at the same time; every packet may be lost. */
static void take_syn(struct packet_net *n, struct tcp_half *h, const struct tcp_packet *p,
                     vtime now)
{
    int answers = p->flags & TCP_ACK;

    h->echo = p->stamp;
    h->has_echoed = 0;
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
        take_ack(n, h, p, now);
        if (p->bytes > 0)
            take_data(n, h, p, now);
    }
    packet_free(n, base);
    if (h->state == TCP_OPEN)
        tcp_output(n, h, now);
    if (h->must_ack)
        tcp_send_empty(n, h, 0, now);
}
