/*
 * cubic.c - congestion control of RFC 9438 as Linux has it: behind a loss the window follows a
 * cubic function of time, flat at the window at which the loss was. Before the first loss it grows
 * by a twentieth in each round trip at least.
 *
 *     W(t) = 0.4 * (t - K)^3 + most       in segments and seconds; K: when W is `most` again
 *
 * In integers, so that it is the same on every computer: segments, and microseconds.
 */
#include "net/packet/tcp.h"

#define PARTS 1024
#define KEPT 717                     /* of PARTS: what is left of the window after a loss */
#define SEGMENT 1000000000000000000u /* microseconds of a second, to the power of three */
#define STEADY \
    (VTIME_S / 32) /* a growth is computed anew so often, or when the window has changed */

typedef unsigned __int128 wide;

/* The largest x with x^3 <= n. */
static uint64_t cube_root(wide n)
{
    uint64_t x = 0;

    for (int bit = 41; bit >= 0; bit--) {
        wide y = x | (uint64_t)1 << bit;

        if (y * y * y <= n)
            x = (uint64_t)y;
    }
    return x;
}

/* 0.4 * t^3 segments, t in microseconds. */
static uint32_t rise(uint64_t t)
{
    const uint64_t most = (uint64_t)1 << 32;
    wide segments;

    t = t < most ? t : most;
    segments = (wide)t * t * t * 4 / 10 / SEGMENT;
    return segments < UINT32_MAX / 4 ? (uint32_t)segments : UINT32_MAX / 4;
}

static void begin(struct tcp_half *h, uint32_t acked, vtime now)
{
    struct tcp_cubic *c = &h->cubic;

    c->start = now;
    c->acked = acked;
    c->friendly = h->window;
    c->origin = c->most > h->window ? c->most : h->window;
    c->k = cube_root((wide)(c->origin - h->window) * SEGMENT * 10 / 4);
}

/* The window that the cubic function says for one round trip from now. */
static uint32_t target(const struct tcp_half *h, vtime now)
{
    const struct tcp_cubic *c = &h->cubic;
    uint64_t t = (uint64_t)((now - c->start + h->hystart.least_rtt) / VTIME_US);
    uint32_t below;

    if (t >= c->k)
        return c->origin + rise(t - c->k);
    below = rise(c->k - t);
    return below < c->origin ? c->origin - below : 0;
}

/* For how many segments the window grows by one. */
static void follow(struct tcp_half *h, vtime now)
{
    struct tcp_cubic *c = &h->cubic;
    uint32_t goal = target(h, now);

    c->last = h->window;
    c->last_at = now;
    c->each = goal > h->window ? h->window / (goal - h->window) : 100 * h->window;
    /* Nothing was lost so far: the path may take much more. */
    if (c->most == 0 && c->each > 20)
        c->each = 20;
}

/* NewReno with what is left here after a loss would grow by 3 (1 - 0.7) / (1 + 0.7) segments in
 * each round trip. */
static void be_friendly(struct tcp_half *h)
{
    struct tcp_cubic *c = &h->cubic;
    uint32_t each = (uint32_t)((uint64_t)h->window * (PARTS + KEPT) / (3 * (PARTS - KEPT)));

    each = each > 0 ? each : 1;
    if (c->acked > each) {
        c->friendly += (c->acked - 1) / each;
        c->acked -= (c->acked - 1) / each * each;
    }
    if (c->friendly > h->window && c->each > h->window / (c->friendly - h->window))
        c->each = h->window / (c->friendly - h->window);
    if (c->each < 2)
        c->each = 2;
}

static void grow(struct tcp_half *h, uint32_t acked, vtime now)
{
    struct tcp_cubic *c = &h->cubic;

    acked = tcp_slow_start(h, acked);
    if (acked == 0)
        return;
    c->acked += acked;
    if (c->last != h->window || now - c->last_at > STEADY || c->start < 0) {
        if (c->start < 0)
            begin(h, acked, now);
        follow(h, now);
        be_friendly(h);
    }
    tcp_grow(h, c->each, acked);
}

static void on_ack(struct tcp_half *h, const struct tcp_ack_news *news)
{
    if (news->rtt >= 0)
        tcp_hystart_sample(h, news->rtt, news->now);
    if (news->may_grow)
        grow(h, news->arrived, news->now);
}

static uint32_t reduce(struct tcp_half *h, vtime now)
{
    struct tcp_cubic *c = &h->cubic;
    uint32_t left = (uint32_t)((uint64_t)h->window * KEPT / PARTS);

    /* A window that did not get as far as before leaves room for others. */
    c->most = h->window < c->most ? (uint32_t)((uint64_t)h->window * (PARTS + KEPT) / (2 * PARTS))
                                  : h->window;
    c->start = -1;
    (void)now;
    return left > 2 ? left : 2;
}

static void init(struct tcp_half *h, vtime now)
{
    (void)now;
    h->cubic = (struct tcp_cubic){.start = -1};
}

static void on_timeout(struct tcp_half *h, vtime now)
{
    init(h, now);
    tcp_hystart_reset(h, now);
}

/* Time in which nothing was sent does not count. */
static void on_start(struct tcp_half *h, vtime idle, vtime now)
{
    struct tcp_cubic *c = &h->cubic;

    if (c->start >= 0 && idle > 0)
        c->start = idle < now - c->start ? c->start + idle : now;
}

const struct tcp_congestion_ops tcp_cubic_ops = {
    .name = "cubic",
    .init = init,
    .on_ack = on_ack,
    .on_loss = reduce,
    .on_ecn = reduce,
    .on_timeout = on_timeout,
    .on_start = on_start,
};
