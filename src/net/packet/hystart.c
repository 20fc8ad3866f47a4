/*
 * hystart.c - HyStart (Ha and Rhee, "Taming the elephants: new TCP slow start", 2011), as Linux has
 * it for CUBIC: ends slow start before a queue is full.
 *
 * Slow start is divided into rounds: a round ends when all that was sent at its beginning is
 * acknowledged. The window is large enough, and becomes the threshold,
 *
 *     if acknowledgements that follow each other closely take longer than half the least round trip
 *     (the window fills the path), or
 *     if the least of a round's round trips is longer than that of all by an eighth, but at least 4
 *     and at most 16 ms (a queue grows).
 */
#include "net/packet/tcp.h"

#define LEAST_SEGMENTS 16 /* a window that it looks at */
#define SAMPLES 8         /* round trips of a round, before it compares them */
#define CLOSE (2 * VTIME_MS)
#define LONGER_LEAST (4 * VTIME_MS)
#define LONGER_MOST (16 * VTIME_MS)
/* Acknowledgements of segments that a device sends together, of TOGETHER bytes, may come this far
 * apart. */
#define SLACK VTIME_MS
#define TOGETHER 262144
#define QUIET VTIME_S /* round trips so soon after a loss do not count */

static void begin_round(struct tcp_half *h, vtime now)
{
    struct tcp_hystart *y = &h->hystart;

    y->round_end = h->next;
    y->round_start = y->last_ack = now;
    y->round_rtt = VTIME_NEVER;
    y->samples = 0;
}

/* How late acknowledgements may be because segments are sent together, at twice the window in a
 * round trip. */
static vtime slack(const struct tcp_half *h)
{
    uint64_t window = h->window * (uint64_t)h->mss;
    vtime t = (vtime)((unsigned __int128)TOGETHER * (uint64_t)h->srtt / (2 * window));

    return t < SLACK ? t : SLACK;
}

static int fills_path(struct tcp_half *h, vtime now)
{
    struct tcp_hystart *y = &h->hystart;

    if (now - y->last_ack > CLOSE)
        return 0;
    y->last_ack = now;
    return now - y->round_start > (y->least_rtt + slack(h)) / 2;
}

static int queue_grows(struct tcp_half *h, vtime rtt)
{
    struct tcp_hystart *y = &h->hystart;
    vtime longer = y->least_rtt / 8;

    if (rtt < y->round_rtt)
        y->round_rtt = rtt;
    if (y->samples < SAMPLES) {
        y->samples++;
        return 0;
    }
    longer = longer < LONGER_LEAST ? LONGER_LEAST : longer > LONGER_MOST ? LONGER_MOST : longer;
    return y->round_rtt > y->least_rtt + longer;
}

void tcp_hystart_sample(struct tcp_half *h, vtime rtt, vtime now)
{
    struct tcp_hystart *y = &h->hystart;

    if (h->cubic.start >= 0 && now - h->cubic.start < QUIET)
        return;
    if (y->least_rtt == 0 || rtt < y->least_rtt)
        y->least_rtt = rtt;
    if (h->window >= h->threshold || y->has_ended || !h->base.options->hystart)
        return;
    if (h->base.acked > y->round_end)
        begin_round(h, now);
    if (h->window >= LEAST_SEGMENTS && (fills_path(h, now) | queue_grows(h, rtt))) {
        h->threshold = h->window;
        y->has_ended = 1;
    }
}

void tcp_hystart_reset(struct tcp_half *h, vtime now)
{
    h->hystart = (struct tcp_hystart){0};
    begin_round(h, now);
}
