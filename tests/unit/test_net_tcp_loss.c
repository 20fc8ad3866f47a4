/*
 * What TCP does about losses: hand-made patterns of segments that are lost, lost again, late or out
 * of order, and random ones.
 */
#include "net/packet/tcp.h"

#include "packet_transfer.h"
#include "tap.h"

/* A byte takes a nanosecond, and a round trip a bit more than 4 ms. */
#define NET                                                                     \
    "net.model=packet,net.latency=1us,net.bandwidth=8Gbps,net.hop_latency=2ms," \
    "net.packet.mtu=1000,net.packet.framing=0,net.packet.header=48,net.packet.jitter=0"
enum { MSS = 948, MOST = 400 };

/* ---- a network that does what it is told ---- */

static uint8_t drops[MOST]; /* how often each segment is lost */
static uint32_t late;       /* a segment that others overtake */
static uint32_t overtakers; /* how many overtake it */
static struct packet *held;
static uint64_t sent;          /* segments */
static vtime blocked, free_at; /* from one time to the other nothing passes; all leaves then */
static struct packet *waiting[MOST];
static uint32_t waiting_count;
static vtime silent; /* until then, what only says that the window is open again is lost */
static uint64_t last_ack;

static void pass(struct packet_net *n, struct packet *p, vtime now)
{
    packet_drop_tail_ops.enqueue(n, p, now);
}

static void release(struct packet_net *n, vtime now)
{
    for (uint32_t i = 0; i < waiting_count; i++)
        pass(n, waiting[i], now);
    waiting_count = 0;
}

/* A packet leaves node 0. */
static void tamper(struct packet_net *n, struct packet *base, vtime now)
{
    const struct tcp_packet *p = (const struct tcp_packet *)base;
    uint32_t number = (uint32_t)(p->seq / MSS);

    sent++;
    if (number < MOST && drops[number] > 0) {
        drops[number]--;
        packet_drop(n, base->route->ports[0], base, NET_DROPPED_ERROR);
        return;
    }
    if (number == late && overtakers > 0 && !held) {
        held = base;
        return;
    }
    pass(n, base, now);
    if (held && --overtakers == 0) {
        pass(n, held, now);
        held = NULL;
    }
}

static void enqueue(struct packet_net *n, struct packet *base, vtime now)
{
    const struct tcp_packet *p = (const struct tcp_packet *)base;

    if (base->stream->src == 1 && base->hop == 0 && p->bytes == 0) {
        int is_news = p->ack > last_ack || p->flags & TCP_SYN;

        last_ack = p->ack;
        if (!is_news && now < silent) {
            packet_drop(n, base->route->ports[0], base, NET_DROPPED_ERROR);
            return;
        }
    }
    if (now >= blocked && now < free_at && base->stream->src == 0 && base->hop == 0 && p->bytes) {
        waiting[waiting_count++] = base;
        return;
    }
    if (waiting_count > 0 && now >= free_at)
        release(n, now);
    if (base->stream->src == 0 && base->hop == 0 && p->bytes > 0)
        tamper(n, base, now);
    else
        pass(n, base, now);
}

static struct packet_fabric_ops told;

static void begin(const char *settings)
{
    struct packet_net *n;

    set_up(settings, 2);
    n = net.state;
    told = *n->fabric;
    told.enqueue = enqueue;
    n->fabric = &told;
    memset(drops, 0, sizeof drops);
    late = overtakers = waiting_count = 0;
    sent = 0;
    held = NULL;
    blocked = free_at = silent = 0;
    last_ack = 0;
}

static const struct tcp_half *sender(void)
{
    return (const struct tcp_half *)packet_stream_find(net.state, 0, 1);
}

/* Sends so many segments, from time 0; returns when the last has arrived. */
static vtime send_all(uint32_t segments)
{
    uint64_t cookie;
    vtime at;

    submit(0, 1, (uint64_t)segments * MSS - 48, 0, PROGRAM, 0);
    advance_all();
    at = take(1, &cookie);
    ok(at > 0, "all of %u segments arrive, after %.1f ms", segments, 1e3 * vtime_to_seconds(at));
    is_int((long long)sender()->base.acked, (long long)segments * MSS, "and are acknowledged");
    is_int((long long)tcp_segments_count(&sender()->segments), 0, "nothing is outstanding");
    ok(traffic().counts[NET_IN_FLIGHT] == 0, "no packet is left");
    return at;
}

static long long count(enum net_count what)
{
    return (long long)traffic().counts[what];
}

/* ---- lost ---- */

static void test_lost(void)
{
    begin(NET);
    drops[150] = 1;
    send_all(300);
    is_int(count(NET_RETRANSMITTED), 1, "one is lost, and one is sent again");
    is_int(count(NET_TIMEOUTS), 0, "the timer does not expire");
    ok(sender()->window >= sender()->threshold && sender()->threshold < TCP_UNLIMITED,
       "the window is %u, the threshold %u", sender()->window, sender()->threshold);
    tear_down();
}

/* What is sent again is lost again: later segments that arrive show it. */
static void test_lost_again(void)
{
    for (uint8_t times = 2; times <= 4; times++) {
        vtime at;

        begin(NET);
        drops[150] = times;
        at = send_all(4 * MOST);
        is_int(count(NET_RETRANSMITTED), times, "lost several times, and sent again each time");
        is_int(count(NET_TIMEOUTS), 0, "the timer does not expire");
        ok(at < 200 * VTIME_MS, "and would have been much later");
        tear_down();
    }
    begin(NET ",net.packet.rack=false");
    drops[150] = 2;
    send_all(MOST);
    is_int(count(NET_TIMEOUTS), 1, "without RACK it does");
    tear_down();
}

/* Half of a window is lost: the rest of it clocks out as much as the threshold says, and no burst
 * follows. */
static void test_reduction(void)
{
    uint32_t before;

    begin(NET ",net.packet.congestion=newreno,net.packet.initial_window=64");
    for (uint32_t i = 0; i < 32; i++)
        drops[2 * i] = 1;
    send_all(128);
    is_int(count(NET_RETRANSMITTED), 32, "each is sent again once");
    is_int(count(NET_TIMEOUTS), 0, "the timer does not expire");
    before = sender()->threshold;
    is_int(before, 32, "the window is halved once");
    ok(sender()->window >= 32 && sender()->window < 40, "and is %u in the end", sender()->window);
    tear_down();
}

/* The last ones are lost with all that is sent again for a while: a probe, and then the timer. */
static void test_tail(void)
{
    begin(NET);
    drops[99] = 1;
    send_all(100);
    is_int(count(NET_TIMEOUTS), 0, "the last is lost: a probe finds it");
    is_int(count(NET_RETRANSMITTED), 1, "which is it");
    tear_down();
    begin(NET);
    drops[99] = 2;
    send_all(100);
    is_int(count(NET_TIMEOUTS), 1, "the probe, too: the timer finds it");
    tear_down();
}

/* The receiver reads more slowly than data comes, and the sender does not hear that the window is
 * open again: it asks for that. */
static void test_window(void)
{
    uint64_t cookie;
    vtime t, at;

    begin(NET ",net.packet.read_bandwidth=1Mbps,net.packet.receive_buffer=4KiB");
    silent = 300 * VTIME_MS;
    submit(0, 1, 20000, 0, PROGRAM, 0);
    while ((t = medium.next(medium.owner)) < 5 * VTIME_S)
        medium.advance(medium.owner, t, t);
    at = take(1, &cookie);
    ok(at > silent && at < VTIME_S, "the message arrives after %.1f ms",
       1e3 * vtime_to_seconds(at));
    ok(count(NET_DROPPED_ERROR) > 0, "%lld were lost", count(NET_DROPPED_ERROR));
    is_int(count(NET_RETRANSMITTED) + count(NET_TIMEOUTS), 0, "no data");
    tear_down();
}

/* ---- not lost ---- */

/* Later segments overtake one: what was taken for lost was not, and the window is as before. */
static void test_reordering(void)
{
    begin(NET ",net.packet.congestion=newreno,net.packet.initial_window=40");
    late = 5;
    overtakers = 10;
    send_all(MOST);
    is_int(count(NET_RETRANSMITTED), 1, "it is sent again for nothing");
    is_int(sender()->has_reordered, 1, "the sender knows that");
    ok(sender()->window >= 40, "the window is %u", sender()->window);
    ok(sender()->threshold > 30, "the threshold %u", sender()->threshold);
    tear_down();
}

/* All is late: the timer expires, and what arrives then shows that nothing was lost. */
static void test_false_timeout(void)
{
    begin(NET ",net.packet.congestion=newreno,net.packet.initial_window=20");
    blocked = 5 * VTIME_MS;
    free_at = 210 * VTIME_MS; /* the first segment that the timer sends again lets the others go */
    send_all(200);
    is_int(count(NET_TIMEOUTS), 1, "the timer expires");
    is_int(count(NET_DROPPED_ERROR), 0, "nothing was lost");
    is_int(count(NET_RETRANSMITTED), 1, "a segment is sent again for nothing, and no more");
    ok(sender()->window >= 20 && sender()->threshold == TCP_UNLIMITED,
       "the window is %u, the threshold as before", sender()->window);
    tear_down();
}

/* ---- random ---- */

/* Whatever is lost, all arrives; and if losses are rare and the last segments are not
 * lost, the timer is not needed. */
static void test_random(void)
{
    struct rng rng;

    rng_seed(&rng, 3);
    diag("seed 3");
    for (int i = 0; i < 60; i++) {
        uint32_t segments = 40 + (uint32_t)rng_below(&rng, MOST - 40);
        uint64_t every = 2 + rng_below(&rng, 40);
        int spares_tail = i % 3 > 0;
        uint64_t lost = 0;
        char settings[400];

        snprintf(settings, sizeof settings, NET ",net.packet.congestion=%s,net.packet.sack=%s",
                 tcp_congestion_name((unsigned)rng_below(&rng, 2)), i % 5 == 4 ? "false" : "true");
        begin(settings);
        for (uint32_t k = 0; k < segments; k++)
            if (rng_below(&rng, every) == 0 && (!spares_tail || k + 40 < segments))
                lost += drops[k] = 1 + (uint8_t)(rng_below(&rng, 4) == 0 && !spares_tail);
        send_all(segments);
        ok(count(NET_RETRANSMITTED) >= (long long)lost,
           "%llu are lost, %lld sent again, %lld timeouts", (unsigned long long)lost,
           count(NET_RETRANSMITTED), count(NET_TIMEOUTS));
        if (spares_tail && every >= 8 && sender()->base.options->sack) {
            is_int(count(NET_TIMEOUTS), 0, "later segments show each loss");
            is_int(count(NET_RETRANSMITTED), (long long)lost, "and nothing is sent for nothing");
        }
        tear_down();
    }
}

int main(void)
{
    test_lost();
    test_lost_again();
    test_reduction();
    test_tail();
    test_window();
    test_reordering();
    test_false_timeout();
    test_random();
    return done_testing();
}
