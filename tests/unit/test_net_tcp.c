/*
 * TCP over the packet network: times of single messages against closed forms, goodput on an idle
 * link, shares of several senders, losses, marks, and options of connections.
 */
#include "net/packet/tcp.h"

#include <stdlib.h>

#include "packet_transfer.h"
#include "pool_live.h"
#include "tap.h"

/* A byte takes a nanosecond, and a packet has 948 bytes of a message, or 1000 in all. */
#define NET                                                                     \
    "net.model=packet,net.latency=1us,net.bandwidth=8Gbps,net.hop_latency=4us," \
    "net.packet.mtu=1000,net.packet.framing=0,net.packet.header=48,net.packet.jitter=0"
#define NS VTIME_NS
#define LATENCY VTIME_US
#define HOP (4 * VTIME_US)
enum { MSS = 948, HEADER = 52, SYN = 60 };

/* Of a packet of so many bytes over two links. */
static vtime over(vtime bytes)
{
    return 2 * bytes * NS + HOP;
}

/* ---- single messages ---- */

static void test_open(void)
{
    vtime opened = 2 * over(SYN);

    set_up(NET, 2);
    submit(0, 1, 900, 0, PROGRAM, 5);
    submit(0, 1, 900, 100 * VTIME_US, PROGRAM, 6);
    submit(1, 0, 900, 200 * VTIME_US, PROGRAM, 0);
    advance_all();
    is_next(0, 0, 5, "the sender continues at once");
    is_next(0, 100 * VTIME_US, 6, "and again");
    is_next(1, opened + over(MSS + HEADER) + LATENCY, 0, "the first message opens the connection");
    is_next(1, 100 * VTIME_US + over(MSS + HEADER) + LATENCY, 0, "the second uses it");
    is_next(0, 200 * VTIME_US + over(MSS + HEADER) + LATENCY, 0, "and so does the other side");
    is_int((long long)traffic().counts[NET_CONNECTIONS], 1, "it is one connection");
    tear_down();

    set_up(NET, 2);
    submit(0, 1, 900, 0, PROGRAM, 0);
    submit(1, 0, 900, 0, PROGRAM, 0);
    advance_all();
    is_next(1, opened + over(MSS + HEADER) + LATENCY, 0, "both open it at the same time");
    is_next(0, opened + over(MSS + HEADER) + LATENCY, 0, "and both messages arrive");
    is_int((long long)traffic().counts[NET_CONNECTIONS], 1, "it is one connection");
    tear_down();
}

/* The initial window, and twice that after a round trip. */
static void test_slow_start(void)
{
    vtime opened = 2 * over(SYN), first;

    set_up(NET ",net.hop_latency=1ms,net.packet.initial_window=4", 2);
    opened += 2 * (VTIME_MS - HOP);
    submit(0, 1, 12 * MSS - 48, 0, PROGRAM, 0);
    advance_all();
    /* The first segment arrives, its acknowledgement comes back, and then two more go out. */
    first = opened + over(MSS + HEADER) + over(HEADER) + 2 * (VTIME_MS - HOP);
    is_next(1, first + 7 * 1000 * NS + over(MSS + HEADER) + VTIME_MS - HOP + LATENCY, 0,
            "twelve segments in two round trips");
    tear_down();
}

/* A small segment waits for the acknowledgement of the one before it. */
static void test_nagle(void)
{
    static const char *const nagle[] = {NET ",net.packet.nagle=false", NET ",net.packet.nagle=true",
                                        NET ",net.packet.connections[+].from=0,net.packet."
                                            "connections[-1].to=1,net.packet.connections[-1]."
                                            "nagle=true"};
    vtime t = VTIME_MS;

    for (int i = 0; i < 3; i++) {
        vtime wait = i ? over(100) + over(HEADER) : 0;

        set_up(nagle[i], 2);
        submit(0, 1, 0, 0, PROGRAM, 0);
        submit(0, 1, 0, t, PROGRAM, 0);
        submit(0, 1, 0, t + NS, PROGRAM, 0);
        advance_all();
        is_next(1, 2 * over(SYN) + over(100) + LATENCY, 0, "the connection is open");
        is_next(1, t + over(100) + LATENCY, 0, "a small segment");
        is_next(1, t + (wait ? wait : 100 * NS) + over(100) + LATENCY, 0, "and the next");
        tear_down();
    }
}

/* When data goes back soon, acknowledgements go with it, and one that has nothing to go with is
 * late. One that nobody answers is not: what a small segment ends is taken at once. */
static void test_delayed_ack(void)
{
    for (int answers = 0; answers < 2; answers++) {
        uint64_t cookie;
        vtime at = 0;

        set_up(NET ",net.packet.nagle=true,net.packet.delayed_ack=40ms", 2);
        for (int i = 0; i < 20; i++) {
            submit(0, 1, 0, i * VTIME_MS, PROGRAM, 0);
            if (answers)
                submit(1, 0, 0, i * VTIME_MS + VTIME_MS / 2, PROGRAM, 0);
        }
        submit(0, 1, 0, 100 * VTIME_MS, PROGRAM, 0);
        submit(0, 1, 0, 100 * VTIME_MS + NS, PROGRAM, 0);
        advance_all();
        for (int i = 0; i < 22; i++)
            at = take(1, &cookie);
        while (take(0, &cookie) >= 0)
            ;
        is_int(at, (answers ? 140 : 100) * VTIME_MS + 2 * over(100) + over(HEADER) + LATENCY,
               answers ? "with Nagle it waits" : "it does not wait");
        tear_down();
    }
}

/* ---- long transfers ---- */

/* Of 1538 bytes on the link 1448 are the program's. */
static void test_goodput(void)
{
    static const char *const congestion[] = {"cubic", "newreno"};
    vtime last[2];

    for (int i = 0; i < 4; i++) {
        char settings[400];
        double share;

        snprintf(settings, sizeof settings,
                 "net.model=packet,net.latency=10us,net.bandwidth=1Gbps,net.hop_latency=250us,"
                 "net.packet.congestion=%s,net.packet.sack=%s",
                 congestion[i % 2], i < 2 ? "true" : "false");
        set_up(settings, 2);
        share = 3000 * 65536.0 * 8 / vtime_to_seconds(transfer(1, 3000, last)) / 1e9 /
                (1448 / 1538.0);
        ok(share > 0.99 && share <= 1, "%s: %.4f of the possible goodput", settings, share);
        is_int((long long)traffic().counts[NET_RETRANSMITTED], 0, "nothing is sent again");
        tear_down();
    }
}

static void test_fairness(void)
{
    static const char *const congestion[] = {"cubic", "newreno"};

    for (int i = 0; i < 2; i++) {
        char settings[400];

        snprintf(settings, sizeof settings,
                 "net.model=packet,net.latency=10us,net.bandwidth=1Gbps,net.hop_latency=250us,"
                 "net.packet.congestion=%s,net.packet.queue=128KiB,net.packet.min_rto=10ms",
                 congestion[i]);
        shares_fairly(settings);
    }
}

static void test_loss(void)
{
    for (int i = 0; i < 8; i++) {
        char settings[400];

        snprintf(settings, sizeof settings,
                 "net.model=packet,net.latency=10us,net.bandwidth=1Gbps,net.hop_latency=50us,"
                 "net.packet.error_rate=%s,net.packet.congestion=%s,net.packet.sack=%s,"
                 "net.packet.min_rto=10ms",
                 i & 1 ? "0.05" : "0.01", i & 2 ? "cubic" : "newreno", i & 4 ? "true" : "false");
        survives_loss(settings);
    }
}

/* Many to one, in fabrics that mark, drop at the end, drop early, and hold back. */
static void test_fabrics(void)
{
    vtime last[17];

    heeds_marks("net.model=packet,net.packet.fabric=ecn,net.latency=10us,net.bandwidth=10Gbps,"
                "net.hop_latency=5us,net.packet.mark_above=64KiB,net.packet.queue=512KiB");
    set_up("net.model=packet,net.latency=10us,net.bandwidth=10Gbps,net.hop_latency=5us,"
           "net.packet.queue=64KiB",
           17);
    transfer(16, 40, last);
    ok(traffic().counts[NET_DROPPED_FULL] > 0, "without marks packets are dropped");
    tear_down();
    set_up("net.model=packet,net.packet.fabric=red,net.latency=10us,net.bandwidth=10Gbps,"
           "net.hop_latency=5us,net.packet.queue=512KiB,net.packet.red_weight=0.02",
           17);
    transfer(16, 40, last);
    ok(traffic().counts[NET_DROPPED_FULL] > 0 && traffic().counts[NET_QUEUE_MAX] < 512 << 10,
       "red: dropped before the queue was full");
    tear_down();
    set_up("net.model=packet,net.packet.fabric=credit,net.latency=10us,net.bandwidth=10Gbps,"
           "net.hop_latency=5us",
           17);
    transfer(16, 40, last);
    is_int((long long)traffic().counts[NET_DROPPED_FULL], 0, "credit: nothing is dropped");
    tear_down();
}

/* A connection and its two streams take little memory. */
static void test_all_pairs(void)
{
    uint64_t pairs = exchange_all("net.model=packet,net.topology.kind=fat-tree,"
                                  "net.topology.down=8x8,net.latency=1us");
    const struct packet_net *n = net.state;

    ok(pool_live(&n->pool) / pairs < 2048, "%llu bytes for a connection",
       (unsigned long long)(pool_live(&n->pool) / pairs));
    tear_down();
}

/* ---- ranges ---- */

/* Against a bit for every byte. */
static void test_ranges(void)
{
    struct packet_ranges r = {0};
    char there[200];
    struct rng rng;
    int wrong = 0;

    rng_seed(&rng, 7);
    memset(there, 0, sizeof there);
    for (int i = 0; i < 20000; i++) {
        uint64_t from = rng_below(&rng, 190), to = from + 1 + rng_below(&rng, 9), end, gap;

        if (i % 50 == 49) {
            memset(there, 0, to);
            packet_ranges_cut(&r, to);
        } else if (i % 500 < 60) {
            memset(there + from, 1, to - from);
            packet_ranges_add(&r, from, to);
        }
        for (gap = from; gap < 200 && there[gap];)
            gap++;
        wrong += packet_ranges_gap(&r, from, &end) != gap;
        for (uint32_t k = 1; k < r.count; k++)
            wrong += r.at[k - 1].to >= r.at[k].from;
    }
    is_int(wrong, 0, "ranges");
    packet_ranges_fini(&r);
}

/* ---- the window ---- */

static const struct tcp_half *half_of(uint32_t src, uint32_t dst)
{
    return (const struct tcp_half *)packet_stream_find(net.state, src, dst);
}

static void drop_all(uint32_t rank)
{
    uint64_t cookie;

    while (take(rank, &cookie) >= 0)
        ;
}

/* A program reads more slowly than the network brings it: the window closes, the sender waits, and
 * nothing is lost. The bytes of a message and their headers are read at 1 Gbit/s. */
static void test_reader(void)
{
    uint64_t cookie;
    vtime at, wanted = 8 * (20 * 65536 + 20 * 48) * NS;
    int ahead = 0, closed = 0;

    set_up(NET ",net.packet.read_bandwidth=1Gbps,net.packet.receive_buffer=64KiB", 2);
    for (int i = 0; i < 20; i++)
        submit(0, 1, 65536, 0, PROGRAM, 0);
    for (vtime t; (t = medium.next(medium.owner)) != VTIME_NEVER;) {
        uint64_t read = (uint64_t)(t / (8 * NS));

        medium.advance(medium.owner, t, t);
        ahead += half_of(0, 1)->next > read + 65536;
        closed += half_of(0, 1)->next == half_of(0, 1)->offered;
    }
    is_int(ahead, 0, "never more is sent than is read and the buffer holds");
    ok(closed > 0, "the window closes");
    for (int i = 0; i < 20; i++)
        at = take(1, &cookie);
    ok(at > wanted && at < wanted + wanted / 20, "all is read after %.3f ms",
       1e3 * vtime_to_seconds(at));
    is_int((long long)traffic().counts[NET_RETRANSMITTED], 0, "nothing is sent again");
    ok(half_of(0, 1)->window * (uint64_t)MSS > 65536, "the network would take more: %u segments",
       half_of(0, 1)->window);
    ok(traffic().counts[NET_PACKETS] < 20 * 65536 / MSS * 2 + 100,
       "%llu packets: the window opens by whole segments",
       (unsigned long long)traffic().counts[NET_PACKETS]);
    tear_down();
}

/* BBR spreads its segments over the round trip; others send what the window allows at once. */
static void test_pacing(void)
{
    static const char *const congestion[] = {"bbr", "cubic"};
    uint64_t queue[2];

    for (int i = 0; i < 2; i++) {
        char settings[400];

        snprintf(settings, sizeof settings,
                 NET ",net.hop_latency=10ms,net.packet.initial_window=40,"
                     "net.packet.small_queue=false,net.packet.congestion=%s,net.packet.queue=1MiB,"
                     "net.links[+].from=s0,net.links[-1].to=n1,net.links[-1].bandwidth=4Gbps",
                 congestion[i]);
        set_up(settings, 2);
        submit(0, 1, 200 * MSS, 0, PROGRAM, 0);
        advance_all();
        queue[i] = traffic().counts[NET_QUEUE_MAX];
        drop_all(1);
        is_int((long long)traffic().counts[NET_RETRANSMITTED], 0, congestion[i]);
        tear_down();
    }
    /* Ten segments leave at once with BBR, too. */
    ok(queue[0] < 12000, "bbr: at most %llu bytes wait", (unsigned long long)queue[0]);
    ok(queue[1] > 20000, "cubic: %llu", (unsigned long long)queue[1]);
}

/* Slow start over a slow link with a long queue: with HyStart it ends when the path is full,
 * without it the window grows on, and so does the queue. */
static void test_hystart(void)
{
    uint64_t queue[2], window[2], threshold[2];
    vtime last[2];

    for (int i = 0; i < 2; i++) {
        char settings[400];

        snprintf(settings, sizeof settings,
                 "net.model=packet,net.latency=10us,net.bandwidth=1Gbps,net.hop_latency=10ms,"
                 "net.packet.send_buffer=16MiB,net.packet.receive_buffer=8MiB,net.packet.queue=64MiB,"
                 "net.links[+].from=s0,net.links[-1].to=n0,net.links[-1].bandwidth=100Mbps,"
                 "net.packet.hystart=%s",
                 i ? "true" : "false");
        set_up(settings, 2);
        transfer(1, 60, last);
        queue[i] = traffic().counts[NET_QUEUE_MAX];
        window[i] = half_of(1, 0)->window;
        threshold[i] = half_of(1, 0)->threshold;
        is_int((long long)traffic().counts[NET_RETRANSMITTED], 0, "nothing is lost");
        tear_down();
    }
    ok(queue[1] < queue[0] / 4, "the queue has %llu bytes, and without it %llu",
       (unsigned long long)queue[1], (unsigned long long)queue[0]);
    /* 100 Mbit/s and 20 ms are 250 kB. */
    ok(threshold[1] * 1448 > 125000 && threshold[1] * 1448 < 500000,
       "slow start ends with a window of %llu segments", (unsigned long long)threshold[1]);
    ok(window[0] > 2 * window[1], "and without it the window is %llu at last",
       (unsigned long long)window[0]);
}

/* What a connection has in the queue of its node: another's single packet waits less for it. */
static void test_small_queue(void)
{
    vtime at[2];
    uint64_t cookie;

    for (int i = 0; i < 2; i++) {
        char settings[400];

        snprintf(settings, sizeof settings,
                 "net.model=packet,net.latency=1us,net.bandwidth=100Mbps,net.hop_latency=5ms,"
                 "net.packet.initial_window=400,net.packet.small_queue=%s",
                 i ? "true" : "false");
        set_up(settings, 3);
        submit(0, 1, 10, 0, PROGRAM, 0);
        submit(0, 2, 10, 0, PROGRAM, 0);
        submit(0, 1, 400 * 1400, VTIME_S, PROGRAM, 0);
        submit(0, 2, 10, VTIME_S + VTIME_MS, PROGRAM, 0);
        advance_all();
        at[i] = take(2, &cookie);
        at[i] = take(2, &cookie) - VTIME_S;
        drop_all(1);
        tear_down();
    }
    ok(at[0] > 45 * VTIME_MS, "it waits for a whole window: %lld", (long long)at[0]);
    ok(at[1] < 20 * VTIME_MS, "or for two batches: %lld", (long long)at[1]);
}

/* A window that was used once grows for all of the data that was sent with it, and no window grows
 * for data that needs less. */
static void test_use(void)
{
    set_up(NET ",net.packet.initial_window=10,net.packet.delayed_ack=0s", 2);
    submit(0, 1, 10 * MSS - 48, 0, PROGRAM, 0);
    advance_all();
    is_int((long long)half_of(0, 1)->window, 20, "ten segments in a window of ten: doubled");
    for (int i = 1; i < 20; i++)
        submit(0, 1, 5 * MSS - 48, i * VTIME_MS, PROGRAM, 0);
    advance_all();
    is_int((long long)half_of(0, 1)->window, 20, "five segments in a window of 20: as before");
    drop_all(1);
    tear_down();
}

/* ---- losses ---- */

#define LOST "net.links[+].from=n0,net.links[-1].to=s0,net.links[-1].both=false,net.links[-1]."
/* Nothing passes the link of the sender from one time to another. */
static vtime arrival_without(const char *from, const char *to, const char *rack)
{
    vtime at = -1;
    uint64_t cookie;
    char settings[700];

    snprintf(settings, sizeof settings,
             NET ",net.packet.rack=%s," LOST "error_rate=0.999999999,net.links[-1].at=%s," LOST
                 "error_rate=0,net.links[-1].at=%s",
             rack, from, to);
    set_up(settings, 2);
    submit(0, 1, 10, 0, PROGRAM, 0); /* opens the connection */
    submit(0, 1, 10 * MSS - 48, VTIME_MS, PROGRAM, 0);
    advance_all();
    for (int i = 0; i < 2; i++)
        at = take(1, &cookie);
    return at;
}

/* Of ten segments, which leave one per microsecond, the last two are lost: a probe finds that out,
 * not the timer. */
static void test_probe(void)
{
    vtime at = arrival_without("1007.5us", "1100us", "true");

    ok(at > 3 * VTIME_MS && at < 4 * VTIME_MS, "with a probe the message arrives at %lld",
       (long long)at);
    is_int((long long)traffic().counts[NET_TIMEOUTS], 0, "the timer does not expire");
    is_int((long long)traffic().counts[NET_RETRANSMITTED], 2, "two segments are sent again");
    tear_down();
    at = arrival_without("1007.5us", "1100us", "false");
    ok(at > 200 * VTIME_MS, "without it at %lld", (long long)at);
    is_int((long long)traffic().counts[NET_TIMEOUTS], 1, "by the timer");
    tear_down();
}

/* The last but one is lost: the last one shows it, when the window for reordering and two ticks of
 * the kernel's clock have passed. */
static void test_rack(void)
{
    vtime at = arrival_without("1007.5us", "1008.5us", "true");

    ok(at > VTIME_MS && at < 3 * VTIME_MS + 60 * VTIME_US, "the message arrives at %lld",
       (long long)at);
    is_int((long long)traffic().counts[NET_RETRANSMITTED], 1, "one segment is sent again");
    is_int((long long)traffic().counts[NET_TIMEOUTS], 0, "the timer does not expire");
    tear_down();
    at = arrival_without("1007.5us", "1008.5us", "false");
    ok(at > 200 * VTIME_MS, "without it at %lld", (long long)at);
    tear_down();
}

/* After a pause a connection begins as with a small window, and reaches the old one soon. */
static void test_restart(void)
{
    for (int i = 0; i < 2; i++) {
        uint64_t before;
        char settings[400];

        snprintf(settings, sizeof settings,
                 NET ",net.packet.initial_window=4,net.packet.restart_idle=%s",
                 i ? "true" : "false");
        set_up(settings, 2);
        submit(0, 1, 100 * MSS - 48, 0, PROGRAM, 0);
        advance_all();
        before = half_of(0, 1)->window;
        ok(before > 40, "a window of %llu", (unsigned long long)before);
        submit(0, 1, 1, 150 * VTIME_MS, PROGRAM, 0);
        advance_all();
        is_int((long long)half_of(0, 1)->window, (long long)before,
               "a short pause changes nothing");
        submit(0, 1, 1, 10 * VTIME_S, PROGRAM, 0);
        advance_all();
        is_int((long long)half_of(0, 1)->window, (long long)(i ? 4 : before), "a long one does");
        ok(!i || half_of(0, 1)->threshold >= before / 4 * 3, "which it remembers");
        drop_all(1);
        tear_down();
    }
}

static void test_wrong(void)
{
    static const char *const wrong[][2] = {
        {"net.packet.congestion=vegas", "net.packet.congestion: unknown name 'vegas'"},
        {"net.packet.mtu=100", "net.packet.mtu: '100' is too small"},
        {"net.packet.queue=1499", "net.packet.queue: '1499' bytes hold no packet"},
        {"net.packet.window_scale=15", "net.packet.window_scale: at most 14"},
        {"net.packet.receive_buffer=1000", "net.packet.receive_buffer: '1000' bytes hold"},
        {"net.packet.fabric=red,net.packet.red_low=300KiB", "net.packet.red_low: must be below"},
        {"net.packet.connections[+].from=0,net.packet.connections[-1].to=1,net.packet.connections"
         "[-1].nagle=maybe",
         "nagle: 'maybe' is neither true nor false"},
    };

    are_refused("net.model=packet", wrong, sizeof wrong / sizeof wrong[0]);
}

int main(void)
{
    test_open();
    test_slow_start();
    test_nagle();
    test_delayed_ack();
    test_goodput();
    test_fairness();
    test_loss();
    test_fabrics();
    test_all_pairs();
    test_ranges();
    test_reader();
    test_pacing();
    test_hystart();
    test_small_queue();
    test_use();
    test_restart();
    test_probe();
    test_rack();
    test_wrong();
    return done_testing();
}
