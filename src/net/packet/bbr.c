/*
 * bbr.c - congestion control by bandwidth and round trip (Cardwell and others, "BBR:
 * congestion-based congestion control", 2016), version 1 as Linux has it. Losses hardly matter.
 *
 * The path takes `rate`, the most that was delivered in a round of the last ten, and has a round
 * trip of `least_rtt`, the least of ten seconds: so rate * least_rtt segments fill it. The sender
 * paces its segments at gain * rate, and has a multiple of what fills the path in flight.
 *
 *     STARTUP  gain 2.89: until the rate grows by less than a quarter in three rounds
 *     DRAIN    gain 0.34: until no more is in flight than fills the path
 *     CRUISE   gain 1.25 for a round trip, 0.75 for the next, and six times 1
 *     PROBE    four segments in flight for 200 ms, if the least round trip is ten seconds old
 *
 * A path that drops more than a fifth is taken for one with a policer: if two intervals between
 * losses deliver at the same rate, that is the rate for 48 round trips.
 */
#include "base/rng.h"
#include "net/packet/tcp.h"

enum { STARTUP = 0, DRAIN, CRUISE, PROBE };

#define UNIT 256u /* of gains; and of rates, segments in a second */
#define HIGH 739u /* 2 / ln 2: the least that doubles the rate in a round */
#define LOW 88u   /* its inverse */
#define PHASES 8u
#define LEAST 4u /* segments in flight */
#define LEAST_RTT_HOLDS (10 * VTIME_S)
#define PROBE_TIME (200 * VTIME_MS)
#define FULL_ROUNDS 3 /* without growth */
#define EXTRA_ROUNDS 5
#define EXTRA_TIME (100 * VTIME_MS)
#define EXTRA_MOST (1u << 20) /* segments */
#define POLICED_LOSS 50u      /* of UNIT: lost of delivered */
#define POLICED_LEAST 4u      /* rounds of an interval */
#define POLICED_MOST 16u
#define POLICED_HOLDS 48u
#define POLICED_NEAR 500u /* bytes in a second: two rates are the same */

typedef unsigned __int128 wide;

static const uint32_t cruise_gains[PHASES] = {UNIT * 5 / 4, UNIT * 3 / 4, UNIT, UNIT,
                                              UNIT,         UNIT,         UNIT, UNIT};

/* ---- what the path takes ---- */

static uint64_t rate_of(uint64_t segments, vtime interval)
{
    return (uint64_t)((wide)segments * VTIME_S * UNIT / (uint64_t)interval);
}

/* Segments in so much time. */
static uint64_t within(uint64_t rate, vtime t)
{
    return (uint64_t)((wide)rate * (uint64_t)t / ((wide)VTIME_S * UNIT));
}

static uint64_t best_rate(const struct tcp_bbr *b)
{
    uint64_t best = 0;

    for (uint32_t i = 0; i < TCP_BBR_ROUNDS; i++)
        best = b->best[i] > best ? b->best[i] : best;
    return best;
}

static uint64_t rate(const struct tcp_bbr *b)
{
    return b->is_policed ? b->policed_rate : best_rate(b);
}

static uint64_t bytes_of(const struct tcp_half *h, uint64_t segments)
{
    return (uint64_t)((wide)segments * h->mss / UNIT);
}

/* Linux sends so many segments at a time, and needs room for some of them. */
static uint32_t burst(const struct tcp_half *h)
{
    uint64_t least = h->bbr.pace < 1200000 / 8 ? 1 : 2, segments = (h->bbr.pace >> 10) / h->mss;

    segments = segments > least ? segments : least;
    return segments < 127 ? (uint32_t)segments : 127;
}

static uint32_t with_bursts(const struct tcp_half *h, uint64_t window)
{
    const struct tcp_bbr *b = &h->bbr;

    window = (window + 3 * (uint64_t)burst(h) + 1) & ~(uint64_t)1;
    if (b->mode == CRUISE && b->phase == 0)
        window += 2;
    return window < UINT32_MAX / 2 ? (uint32_t)window : UINT32_MAX / 2;
}

/* A multiple of what fills the path. */
static uint64_t product(const struct tcp_half *h, uint64_t r, uint32_t gain)
{
    const struct tcp_bbr *b = &h->bbr;
    const wide whole = (wide)VTIME_S * UNIT * UNIT;

    if (b->least_rtt == VTIME_NEVER)
        return h->base.options->initial_window;
    return (uint64_t)(((wide)r * (uint64_t)b->least_rtt * gain + whole - 1) / whole);
}

static uint32_t filling(const struct tcp_half *h, uint64_t r, uint32_t gain)
{
    return with_bursts(h, product(h, r, gain));
}

/* ---- pacing ---- */

/* A hundredth less than the path takes, so that no queue stays. */
static void set_pace(struct tcp_half *h, uint64_t r, uint32_t gain)
{
    struct tcp_bbr *b = &h->bbr;
    uint64_t pace = bytes_of(h, (uint64_t)((wide)r * gain / UNIT * 99 / 100));

    if (!b->has_rtt && h->srtt > 0) {
        b->has_rtt = 1;
        b->pace = bytes_of(h, rate_of(h->window, h->srtt) * HIGH / UNIT);
    }
    if (b->is_full || pace > b->pace)
        b->pace = pace;
}

static uint64_t pacing(const struct tcp_half *h)
{
    return h->bbr.pace;
}

/* What will be in flight when the next segment may leave. */
static uint32_t in_flight_then(const struct tcp_half *h, uint32_t in_flight, vtime now)
{
    const struct tcp_bbr *b = &h->bbr;
    uint64_t gone = h->pace_at > now ? within(rate(b), h->pace_at - now) : 0;

    if (b->gain > UNIT)
        in_flight += burst(h);
    return gone < in_flight ? in_flight - (uint32_t)gone : 0;
}

/* ---- modes ---- */

static void cruise(struct tcp_half *h, vtime now)
{
    struct tcp_bbr *b = &h->bbr;

    b->mode = CRUISE;
    b->phase = (uint8_t)((rng_splitmix(&b->random) % (PHASES - 1) + 2) % PHASES); /* not the low */
    b->phase_at = now;
}

static void leave_probe(struct tcp_half *h, vtime now)
{
    struct tcp_bbr *b = &h->bbr;

    if (b->probe_end == VTIME_NEVER || now <= b->probe_end)
        return;
    b->least_at = now;
    h->window = h->window > b->window ? h->window : b->window;
    if (b->is_full)
        cruise(h, now);
    else
        b->mode = STARTUP;
}

/* The window to return to. */
static void keep_window(struct tcp_half *h)
{
    struct tcp_bbr *b = &h->bbr;

    b->window = b->before < TCP_FAST && b->mode != PROBE ? h->window
                : h->window > b->window                  ? h->window
                                                         : b->window;
}

/* ---- policers ---- */

static void begin_interval(struct tcp_half *h)
{
    struct tcp_bbr *b = &h->bbr;

    b->interval_at = h->rate.delivered_at;
    b->interval_delivered = h->delivered;
    b->interval_lost = h->segments.losses;
    b->interval_rounds = 0;
}

static void forget_policer(struct tcp_half *h)
{
    struct tcp_bbr *b = &h->bbr;

    b->policed_rate = 0;
    b->is_policed = b->is_sampling = 0;
    begin_interval(h);
}

static void end_interval(struct tcp_half *h, uint64_t r)
{
    struct tcp_bbr *b = &h->bbr;
    uint64_t off = r > b->policed_rate ? r - b->policed_rate : b->policed_rate - r;

    if (b->policed_rate > 0 && (off <= b->policed_rate / 8 || bytes_of(h, off) <= POLICED_NEAR)) {
        b->policed_rate = (r + b->policed_rate) / 2;
        b->is_policed = 1;
        b->interval_rounds = 0;
        return;
    }
    b->policed_rate = r;
    begin_interval(h);
}

static void look_for_policer(struct tcp_half *h, const struct tcp_ack_news *news)
{
    struct tcp_bbr *b = &h->bbr;
    uint64_t delivered;
    uint32_t lost;

    if (b->is_policed) {
        if (b->mode == CRUISE && b->begins_round && ++b->interval_rounds >= POLICED_HOLDS) {
            forget_policer(h);
            cruise(h, news->now);
        }
        return;
    }
    if (!b->is_sampling) {
        if (news->lost == 0)
            return;
        begin_interval(h);
        b->is_sampling = 1;
    }
    b->interval_rounds += b->begins_round;
    if (news->rate.is_limited || b->interval_rounds > POLICED_MOST) {
        forget_policer(h);
        return;
    }
    if (b->interval_rounds < POLICED_LEAST || news->lost == 0)
        return;
    lost = h->segments.losses - b->interval_lost;
    delivered = h->delivered - b->interval_delivered;
    if (delivered > 0 && (uint64_t)lost * UNIT >= POLICED_LOSS * delivered &&
        h->rate.delivered_at - b->interval_at >= VTIME_MS)
        end_interval(h, rate_of(delivered, h->rate.delivered_at - b->interval_at));
}

/* ---- the model of the path ---- */

static void take_rate(struct tcp_half *h, const struct tcp_ack_news *news)
{
    const struct tcp_rate_sample *s = &news->rate;
    struct tcp_bbr *b = &h->bbr;
    uint64_t r;

    b->begins_round = 0;
    if (s->interval <= 0)
        return;
    if (s->before >= b->round_end) {
        b->round_end = h->delivered;
        b->begins_round = 1;
        b->conserves = 0;
        b->round++;
        b->best[b->round % TCP_BBR_ROUNDS] = 0;
    }
    look_for_policer(h, news);
    r = rate_of(s->delivered, s->interval);
    if ((!s->is_limited || r >= best_rate(b)) && r > b->best[b->round % TCP_BBR_ROUNDS])
        b->best[b->round % TCP_BBR_ROUNDS] = r;
}

/* Acknowledgements that come together leave pauses, for which more has to be in flight. */
static void take_extra(struct tcp_half *h, const struct tcp_ack_news *news)
{
    struct tcp_bbr *b = &h->bbr;
    uint64_t expected, extra;

    if (news->arrived == 0 || news->rate.interval <= 0)
        return;
    if (b->begins_round && ++b->extra_rounds >= EXTRA_ROUNDS) {
        b->extra_rounds = 0;
        b->extra_at ^= 1;
        b->extra[b->extra_at] = 0;
    }
    expected = within(rate(b), news->now - b->burst_at);
    if (b->burst <= expected || b->burst + news->arrived >= EXTRA_MOST) {
        b->burst = 0;
        b->burst_at = news->now;
        expected = 0;
    }
    b->burst += news->arrived;
    extra = b->burst - expected;
    extra = extra < h->window ? extra : h->window;
    if (extra > b->extra[b->extra_at])
        b->extra[b->extra_at] = (uint32_t)extra;
}

static uint64_t extra_window(const struct tcp_bbr *b)
{
    uint64_t most = within(rate(b), EXTRA_TIME),
             extra = b->extra[0] > b->extra[1] ? b->extra[0] : b->extra[1];

    if (!b->is_full)
        return 0;
    return extra < most ? extra : most;
}

/* ---- from mode to mode ---- */

static void next_phase(struct tcp_half *h, const struct tcp_ack_news *news)
{
    struct tcp_bbr *b = &h->bbr;
    int is_long = news->now - b->phase_at > b->least_rtt, is_over = is_long;
    uint32_t gain = cruise_gains[b->phase],
             in_flight = in_flight_then(h, news->in_flight, news->now);

    if (b->is_policed || b->mode != CRUISE)
        gain = UNIT;
    if (gain > UNIT)
        is_over = is_long && (news->lost > 0 || in_flight >= filling(h, best_rate(b), gain));
    else if (gain < UNIT)
        is_over = is_long || in_flight <= filling(h, best_rate(b), UNIT);
    if (b->mode != CRUISE || !is_over)
        return;
    b->phase = (b->phase + 1) % PHASES;
    b->phase_at = news->now;
}

static void look_if_full(struct tcp_half *h, const struct tcp_ack_news *news)
{
    struct tcp_bbr *b = &h->bbr;

    if (b->is_full || !b->begins_round || news->rate.is_limited)
        return;
    if (best_rate(b) >= b->full_rate + b->full_rate / 4) {
        b->full_rate = best_rate(b);
        b->full_rounds = 0;
        return;
    }
    b->is_full = ++b->full_rounds >= FULL_ROUNDS;
}

static void drain(struct tcp_half *h, vtime now)
{
    struct tcp_bbr *b = &h->bbr;

    if (b->mode == STARTUP && b->is_full) {
        b->mode = DRAIN;
        h->threshold = filling(h, best_rate(b), UNIT);
    }
    if (b->mode == DRAIN && in_flight_then(h, tcp_segments_in_flight(&h->segments), now) <=
                                filling(h, best_rate(b), UNIT))
        cruise(h, now);
}

static void take_rtt(struct tcp_half *h, const struct tcp_ack_news *news)
{
    struct tcp_bbr *b = &h->bbr;
    vtime now = news->now;
    int is_old = now > b->least_at + LEAST_RTT_HOLDS;

    if (news->rtt >= 0 && (news->rtt < b->least_rtt || is_old)) {
        b->least_rtt = news->rtt > 0 ? news->rtt : 1;
        b->least_at = now;
    }
    if (is_old && !b->was_idle && b->mode != PROBE) {
        keep_window(h);
        b->mode = PROBE;
        b->probe_end = VTIME_NEVER;
    }
    if (b->mode == PROBE) {
        uint32_t in_flight = tcp_segments_in_flight(&h->segments);

        h->rate.limited = h->delivered + (in_flight > 0 ? in_flight : 1);
        if (b->probe_end == VTIME_NEVER && in_flight <= LEAST) {
            b->probe_end = now + PROBE_TIME;
            b->probe_round = 0;
            b->round_end = h->delivered;
        } else if (b->probe_end != VTIME_NEVER) {
            b->probe_round |= b->begins_round;
            if (b->probe_round)
                leave_probe(h, now);
        }
    }
    if (news->rate.interval > 0)
        b->was_idle = 0;
}

static void set_gains(struct tcp_bbr *b)
{
    static const uint32_t gains[] = {[STARTUP] = HIGH, [DRAIN] = LOW, [PROBE] = UNIT};
    static const uint32_t windows[] =
        {[STARTUP] = HIGH, [DRAIN] = HIGH, [CRUISE] = 2 * UNIT, [PROBE] = UNIT};

    b->gain = b->mode != CRUISE ? gains[b->mode] : b->is_policed ? UNIT : cruise_gains[b->phase];
    b->window_gain = windows[b->mode];
}

/* ---- the window ---- */

/* In the first round of a recovery only as much is sent as arrives. Returns true if that is all. */
static int recover(struct tcp_half *h, const struct tcp_ack_news *news, uint32_t *window)
{
    struct tcp_bbr *b = &h->bbr;
    uint32_t in_flight = tcp_segments_in_flight(&h->segments);

    if (news->lost > 0)
        *window = *window > news->lost ? *window - news->lost : 1;
    if (h->recovery == TCP_FAST && b->before != TCP_FAST) {
        b->conserves = 1;
        b->round_end = h->delivered;
        *window = in_flight + news->arrived;
    } else if (b->before >= TCP_FAST && h->recovery < TCP_FAST) {
        *window = *window > b->window ? *window : b->window;
        b->conserves = 0;
    }
    b->before = h->recovery;
    if (!b->conserves)
        return 0;
    if (*window < in_flight + news->arrived)
        *window = in_flight + news->arrived;
    return 1;
}

static void set_window(struct tcp_half *h, const struct tcp_ack_news *news)
{
    struct tcp_bbr *b = &h->bbr;
    uint32_t window = h->window;

    if (news->arrived > 0 && !recover(h, news, &window)) {
        uint32_t goal = with_bursts(h, product(h, rate(b), b->window_gain) + extra_window(b));

        if (b->is_full)
            window = window + news->arrived < goal ? window + news->arrived : goal;
        else if (window < goal || h->delivered < h->base.options->initial_window)
            window += news->arrived;
        window = window > LEAST ? window : LEAST;
    }
    if (b->mode == PROBE && window > LEAST)
        window = LEAST;
    h->window = window;
}

/* ---- the operations ---- */

static void on_ack(struct tcp_half *h, const struct tcp_ack_news *news)
{
    struct tcp_bbr *b = &h->bbr;

    take_rate(h, news);
    take_extra(h, news);
    set_gains(b);
    next_phase(h, news);
    look_if_full(h, news);
    drain(h, news->now);
    take_rtt(h, news);
    set_gains(b);
    set_pace(h, rate(b), b->gain);
    set_window(h, news);
}

static uint32_t on_loss(struct tcp_half *h, vtime now)
{
    (void)now;
    keep_window(h);
    return h->threshold;
}

static uint32_t on_ecn(struct tcp_half *h, vtime now)
{
    (void)now;
    return h->threshold;
}

static void on_timeout(struct tcp_half *h, vtime now)
{
    struct tcp_bbr *b = &h->bbr;

    (void)now;
    b->before = TCP_TIMEOUT;
    b->full_rate = 0;
    b->begins_round = 1;
}

static void on_start(struct tcp_half *h, vtime idle, vtime now)
{
    struct tcp_bbr *b = &h->bbr;

    (void)idle;
    if (h->rate.limited == 0)
        return;
    b->was_idle = 1;
    b->burst = 0;
    b->burst_at = now;
    if (b->mode == CRUISE)
        set_pace(h, rate(b), UNIT);
    else if (b->mode == PROBE)
        leave_probe(h, now);
}

static void init(struct tcp_half *h, vtime now)
{
    h->bbr = (struct tcp_bbr){.least_rtt = h->least_rtt > 0 ? h->least_rtt : VTIME_NEVER,
                              .least_at = now,
                              .probe_end = VTIME_NEVER,
                              .burst_at = now,
                              .phase_at = now,
                              .random = h->base.index};
    set_gains(&h->bbr);
    h->bbr.pace = bytes_of(h, rate_of(h->window, VTIME_MS) * HIGH / UNIT);
    h->bbr.has_rtt = h->srtt > 0;
    if (h->srtt > 0)
        h->bbr.pace = bytes_of(h, rate_of(h->window, h->srtt) * HIGH / UNIT);
}

const struct tcp_congestion_ops tcp_bbr_ops = {
    .name = "bbr",
    .sets_window = 1,
    .wants_rate = 1,
    .init = init,
    .on_ack = on_ack,
    .on_loss = on_loss,
    .on_ecn = on_ecn,
    .on_timeout = on_timeout,
    .on_start = on_start,
    .pacing = pacing,
};
