/*
 * cubic.c - congestion control of RFC 9438: behind a loss the window follows a cubic function of
 * time, flat at the window at which the loss was. Before the first loss it grows by a twentieth in
 * each round trip at least.
 *
 *     W(t) = 0.4 * (t - K)^3 + most       in segments and seconds; K: when W is `most` again
 *
 * In integers, so that it is the same on every computer: bytes, and microseconds.
 */
#include "net/packet/tcp.h"

#define BETA_TENTHS 7 /* what is left of the window after a loss */

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

/* 0.4 * t^3 segments in bytes, t in microseconds. */
static uint64_t rise(uint64_t t, uint32_t mss)
{
    const uint64_t most = (uint64_t)1 << 32;

    t = t < most ? t : most;
    return (uint64_t)((wide)t * t * t / 1000000000 * mss * 4 / 10000000000u);
}

static void begin(struct tcp_half *h, uint32_t mss, vtime now)
{
    struct tcp_cubic *c = &h->cubic;

    c->start = now;
    c->friendly = h->window;
    c->origin = c->most > h->window ? c->most : h->window;
    c->k = cube_root((wide)(c->origin - h->window) * 2500000000u * 1000000000u / mss);
}

/* The window that the cubic function says for one round trip from now. */
static uint64_t target(const struct tcp_half *h, uint32_t mss, vtime now)
{
    const struct tcp_cubic *c = &h->cubic;
    uint64_t t = (uint64_t)((now - c->start + h->srtt) / VTIME_US), below;

    if (t >= c->k)
        return c->origin + rise(t - c->k, mss);
    below = rise(c->k - t, mss);
    return below < c->origin ? c->origin - below : 0;
}

static void grow(struct tcp_half *h, uint64_t acked, uint32_t mss, vtime now)
{
    struct tcp_cubic *c = &h->cubic;
    uint64_t goal, most;

    acked = tcp_slow_start(h, acked);
    if (acked == 0)
        return;
    if (c->start < 0)
        begin(h, mss, now);
    /* 3 (1 - 0.7) / (1 + 0.7) = 9 / 17 of a segment in each round trip is as much as NewReno. */
    c->friendly += acked * mss * (c->friendly < c->most ? 9 : 17) / (17 * h->window);
    goal = target(h, mss, now);
    /* Nothing was lost so far: the path may take much more. As in Linux. */
    if (c->most == 0 && goal < h->window + h->window / 20)
        goal = h->window + h->window / 20;
    most = h->window + h->window / 2;
    goal = goal < most ? goal : most;
    if (goal > h->window) {
        h->fraction += (goal - h->window) * acked;
        h->window += h->fraction / h->window;
        h->fraction %= h->window;
    }
    if (c->friendly > h->window)
        h->window = c->friendly;
}

static uint64_t reduce(struct tcp_half *h, uint32_t mss)
{
    struct tcp_cubic *c = &h->cubic;
    uint64_t left = h->window * BETA_TENTHS / 10;

    /* A window that did not get as far as before leaves room for others. */
    c->most = h->window < c->most ? h->window * (10 + BETA_TENTHS) / 20 : h->window;
    c->start = -1;
    h->fraction = 0;
    return left > 2 * (uint64_t)mss ? left : 2 * (uint64_t)mss;
}

const struct tcp_congestion_ops tcp_cubic_ops = {
    .name = "cubic",
    .grow = grow,
    .reduce = reduce,
    .sample = tcp_hystart_sample,
};
