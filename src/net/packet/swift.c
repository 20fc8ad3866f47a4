/*
 * swift.c - congestion control by delay (Kumar and others, "Swift: delay is simple and effective
 * for congestion control in the datacenter", SIGCOMM 2020): each round trip is compared with a
 * target, and losses hardly matter.
 *
 *     target = that of the empty path + net.packet.target_delay + a part that falls with the
 *              window
 *
 *     below the target   window + 1 segment in a round trip
 *     above              window * (1 - 0.8 * (delay - target) / delay), at most by half, and
 *                        once in a round trip
 *
 * The paper counts hops for the delay of the empty path; here the links are known. Flows with small
 * windows get a higher target, so that many flows share a link evenly. A window may be less than a
 * segment: then segments are paced.
 */
#include "net/packet/tcp.h"

#define UNIT 65536u /* of the window, and of factors */
#define LEAST (UNIT / 1000)
#define CUT (UNIT / 2)      /* at most, at a time */
#define BETA (UNIT * 4 / 5) /* how much of the excess is taken back */
#define RESET 5             /* timeouts in a row: the path is gone, or full of others */
/* The target is higher for windows below SPREAD_MOST segments, and by SPREAD targets below
 * SPREAD_LEAST. */
#define SPREAD 4
#define SPREAD_LEAST (UNIT / 10)
#define SPREAD_MOST (100 * (uint64_t)UNIT)

typedef unsigned __int128 wide;

/* The largest x with x^2 <= n. */
static uint64_t square_root(wide n)
{
    uint64_t x = 0;

    for (int bit = 62; bit >= 0; bit--) {
        wide y = x | (uint64_t)1 << bit;

        if (y * y <= n)
            x = (uint64_t)y;
    }
    return x;
}

/* 1 / sqrt(window), times UNIT. */
static uint64_t inverse_root(uint64_t window)
{
    return square_root((wide)UNIT * UNIT * UNIT / window);
}

static vtime target(const struct tcp_half *h)
{
    uint64_t least = inverse_root(SPREAD_MOST), most = inverse_root(SPREAD_LEAST),
             root = inverse_root(h->swift.window);
    vtime more = h->base.options->target_delay;

    root = root < least ? least : root > most ? most : root;
    return h->swift.empty + more + (vtime)((wide)more * SPREAD * (root - least) / (most - least));
}

static void set_window(struct tcp_half *h, uint64_t window)
{
    const uint64_t most = (uint64_t)UINT32_MAX / 2 * UNIT;

    window = window < LEAST ? LEAST : window > most ? most : window;
    h->swift.window = window;
    h->window = window < UNIT ? 1 : (uint32_t)(window / UNIT);
    h->threshold = h->window; /* there is no slow start */
}

/* Not twice for what is in flight. */
static void cut(struct tcp_half *h, uint64_t part, vtime now)
{
    struct tcp_swift *w = &h->swift;

    if (now - w->cut_at < h->srtt)
        return;
    w->cut_at = now;
    set_window(h, (uint64_t)((wide)w->window * (UNIT - (part < CUT ? part : CUT)) / UNIT));
}

static void on_ack(struct tcp_half *h, const struct tcp_ack_news *news)
{
    struct tcp_swift *w = &h->swift;
    vtime goal = target(h);

    if (news->advances)
        w->timeouts = 0;
    if (news->rtt < 0 || news->arrived == 0)
        return;
    if (news->rtt >= goal)
        cut(h, (uint64_t)((wide)BETA * (uint64_t)(news->rtt - goal) / (uint64_t)news->rtt),
            news->now);
    else if (w->window < UNIT)
        set_window(h, w->window + news->arrived * (uint64_t)UNIT);
    else if (news->may_grow)
        set_window(h, w->window + (uint64_t)((wide)UNIT * UNIT * news->arrived / w->window));
}

static uint32_t on_loss(struct tcp_half *h, vtime now)
{
    cut(h, CUT, now);
    return h->window;
}

static uint32_t on_ecn(struct tcp_half *h, vtime now)
{
    (void)now;
    return h->window;
}

static void on_timeout(struct tcp_half *h, vtime now)
{
    (void)now;
    if (++h->swift.timeouts >= RESET)
        set_window(h, LEAST);
    h->window = 1;
}

static uint64_t pacing(const struct tcp_half *h)
{
    const struct tcp_swift *w = &h->swift;

    if (w->window >= UNIT || h->srtt == 0)
        return 0;
    return 1 + (uint64_t)((wide)w->window * h->mss * VTIME_S / UNIT / (uint64_t)h->srtt);
}

/* The round trip of a full packet and its acknowledgement, if nothing waits. */
static vtime empty_path(const struct packet_route *r)
{
    vtime t = 0;

    for (uint32_t i = 0; i < r->count; i++)
        t += 2 * r->ports[i]->delay +
             vtime_mul_q(r->mtu + (uint32_t)TCP_HEADER, r->ports[i]->ps_per_byte);
    return t;
}

static void init(struct tcp_half *h, vtime now)
{
    (void)now;
    h->swift = (struct tcp_swift){.empty = empty_path(h->base.route)};
    set_window(h, h->window * (uint64_t)UNIT);
}

const struct tcp_congestion_ops tcp_swift_ops = {
    .name = "swift",
    .acks_at_once = 1,
    .sets_window = 1,
    .init = init,
    .on_ack = on_ack,
    .on_loss = on_loss,
    .on_ecn = on_ecn,
    .on_timeout = on_timeout,
    .pacing = pacing,
};
