/*
 * Algorithms for congestion control, by what is published of them: the queue that they keep, how
 * they share a link, and what losses do to them.
 */
#include "net/packet/tcp.h"

#include "packet_transfer.h"
#include "tap.h"

/* 100 Mbit/s and a round trip of 20 ms are 250 kB. */
#define PATH                                                                                       \
    "net.model=packet,net.latency=10us,net.bandwidth=1Gbps,net.hop_latency=10ms,"                  \
    "net.packet.send_buffer=16MiB,net.packet.receive_buffer=16MiB,net.packet.queue=16MiB,"         \
    "net.links[+].from=s0,net.links[-1].to=n0,net.links[-1].bandwidth=100Mbps,net.packet.hystart=" \
    "false,net.packet.congestion="
#define PRODUCT 250000
#define TRIP (20 * VTIME_MS)

static const struct tcp_half *half_of(uint32_t src, uint32_t dst)
{
    return (const struct tcp_half *)packet_stream_find(net.state, src, dst);
}

/* Share of a link that one sender or several together get. */
static double share_of(uint32_t senders, int messages, double rate)
{
    vtime last[RANKS_MOST];

    return senders * (double)messages * 65536 * 8 /
           vtime_to_seconds(transfer(senders, messages, last)) / rate / (1448 / 1538.0);
}

/* Jain's index of what flows have got when the first of them was done. */
static double fairness(uint32_t senders, int messages)
{
    vtime last[RANKS_MOST];
    double sum = 0, squares = 0;

    transfer(senders, messages, last);
    for (uint32_t s = 1; s <= senders; s++) {
        double rate = 1 / vtime_to_seconds(last[s]);

        sum += rate;
        squares += rate * rate;
    }
    return sum * sum / (senders * squares);
}

/* ---- bbr ---- */

/* BBR keeps little more in flight than fills the path, whatever the queue holds; CUBIC fills the
 * queue. */
static void test_bbr_queue(void)
{
    double share;

    set_up(PATH "bbr", 2);
    share = share_of(1, 600, 1e8);
    ok(share > 0.93, "bbr: %.3f of the link", share);
    ok(traffic().counts[NET_QUEUE_MAX] < 3 * PRODUCT, "at most %llu bytes wait",
       (unsigned long long)traffic().counts[NET_QUEUE_MAX]);
    ok(half_of(1, 0)->srtt < 2 * TRIP, "a round trip takes %.1f ms",
       1e3 * vtime_to_seconds(half_of(1, 0)->srtt));
    is_int((long long)traffic().counts[NET_RETRANSMITTED], 0, "nothing is lost");
    tear_down();
    set_up(PATH "cubic", 2);
    share_of(1, 600, 1e8);
    ok(traffic().counts[NET_QUEUE_MAX] > 10 * PRODUCT, "cubic: %llu bytes wait",
       (unsigned long long)traffic().counts[NET_QUEUE_MAX]);
    tear_down();
}

/* One packet in a hundred is lost at random: BBR does not mind. */
static void test_bbr_loss(void)
{
    static const char *const names[] = {"bbr", "cubic"};
    double share[2];

    for (int i = 0; i < 2; i++) {
        char settings[400];

        snprintf(settings, sizeof settings,
                 "net.model=packet,net.latency=10us,net.bandwidth=100Mbps,net.hop_latency=10ms,"
                 "net.packet.send_buffer=16MiB,net.packet.receive_buffer=16MiB,"
                 "net.packet.error_rate=0.005,net.packet.congestion=%s",
                 names[i]);
        set_up(settings, 2);
        share[i] = share_of(1, 300, 1e8);
        tear_down();
    }
    ok(share[0] > 0.8, "bbr: %.3f of a path that loses 1%% of the packets", share[0]);
    ok(share[1] < 0.3, "cubic: %.3f", share[1]);
}

static void test_bbr_shares(void)
{
    double jain;

    set_up(PATH "bbr", 5);
    jain = fairness(4, 600);
    ok(jain > 0.9, "bbr: Jain's index of four senders is %.3f", jain);
    ok(traffic().counts[NET_QUEUE_MAX] < 8 * PRODUCT, "at most %llu bytes wait",
       (unsigned long long)traffic().counts[NET_QUEUE_MAX]);
    tear_down();
}

/* The least round trip is measured again every ten seconds, with four segments in flight; without
 * that the others' queue would count as the path. */
static void test_bbr_probes(void)
{
    double share;

    set_up(PATH "bbr", 2);
    share = share_of(1, 4000, 1e8);
    ok(half_of(1, 0)->bbr.least_at > 10 * VTIME_S, "least round trip: measured again at %.1f s",
       vtime_to_seconds(half_of(1, 0)->bbr.least_at));
    ok(half_of(1, 0)->bbr.least_rtt < TRIP + TRIP / 10, "and is %.1f ms",
       1e3 * vtime_to_seconds(half_of(1, 0)->bbr.least_rtt));
    ok(share > 0.95, "which costs little: %.3f of the link", share);
    tear_down();
}

/* ---- dctcp ---- */

/* DCTCP keeps a queue near the length at which it is marked, and the link busy; NewReno halves its
 * window, and a queue that is marked early runs empty. */
static void test_dctcp(void)
{
    static const char *const congestion[] = {"newreno", "dctcp"};
    double share[2];
    vtime last[3];

    for (int i = 0; i < 2; i++) {
        char settings[400];
        const struct tcp_half *h;

        snprintf(settings, sizeof settings,
                 "net.model=packet,net.packet.fabric=ecn,net.latency=10us,net.bandwidth=10Gbps,"
                 "net.hop_latency=50us,net.packet.mark_above=24000,net.packet.queue=1MiB,"
                 "net.packet.receive_buffer=4MiB,net.packet.send_buffer=4MiB,"
                 "net.packet.congestion=%s",
                 congestion[i]);
        set_up(settings, 3);
        share[i] = 2 * 3000 * 65536.0 * 8 / vtime_to_seconds(transfer(2, 3000, last)) / 1e10 /
                   (1448 / 1538.0);
        h = (const struct tcp_half *)packet_stream_find(net.state, 1, 0);
        ok(traffic().counts[NET_MARKED] > 0, "%s: packets are marked", congestion[i]);
        is_int((long long)traffic().counts[NET_DROPPED_FULL], 0, "none is dropped");
        ok(i == 0 || (h->dctcp.alpha > 0 && h->dctcp.alpha < 512), "alpha is %u of 1024",
           h->dctcp.alpha);
        ok(last[1] < 1.1 * last[2] && last[2] < 1.1 * last[1], "both get the same");
        tear_down();
    }
    ok(share[1] > 0.98, "%.3f of the link is used", share[1]);
    ok(share[1] > share[0] + 0.02, "and by NewReno %.3f", share[0]);
}

/* ---- swift ---- */

#define CENTRE                                                                          \
    "net.model=packet,net.latency=1us,net.bandwidth=10Gbps,net.hop_latency=2us,"        \
    "net.packet.send_buffer=4MiB,net.packet.receive_buffer=4MiB,net.packet.queue=4MiB," \
    "net.packet.congestion="

/* Packets wait for about the target, which is 31 kB, and the link is busy. */
static void test_swift_queue(void)
{
    static const char *const names[] = {"swift", "cubic"};
    uint64_t queue[2];

    for (int i = 0; i < 2; i++) {
        char settings[400];
        double share;

        snprintf(settings, sizeof settings, CENTRE "%s", names[i]);
        set_up(settings, 5);
        share = share_of(4, 800, 1e10);
        ok(share > 0.95, "%s: four senders use %.3f of the link", names[i], share);
        queue[i] = traffic().counts[NET_QUEUE_MAX];
        tear_down();
    }
    ok(queue[0] < 120000, "swift: at most %llu bytes wait", (unsigned long long)queue[0]);
    ok(queue[1] > 10 * queue[0], "cubic: %llu", (unsigned long long)queue[1]);
}

static void test_swift_shares(void)
{
    double jain;

    set_up(CENTRE "swift", 9);
    jain = fairness(8, 500);
    ok(jain > 0.95, "swift: Jain's index of eight senders is %.3f", jain);
    is_int((long long)traffic().counts[NET_RETRANSMITTED], 0, "nothing is lost");
    tear_down();
}

/* More senders than there are segments in the path: windows fall below one. */
static void test_swift_incast(void)
{
    vtime last[RANKS_MOST];
    uint32_t below = 0;
    double share;

    set_up(CENTRE "swift,net.packet.queue=1MiB,net.packet.initial_window=1,"
                  "net.packet.target_delay=8us",
           RANKS_MOST);
    share = (RANKS_MOST - 1) * 40.0 * 65536 * 8 /
            vtime_to_seconds(transfer(RANKS_MOST - 1, 40, last)) / 1e10 / (1448 / 1538.0);
    for (uint32_t r = 1; r < RANKS_MOST; r++)
        below += half_of(r, 0)->swift.window < 65536;
    ok(share > 0.8, "swift: %u senders use %.3f of the link", RANKS_MOST - 1, share);
    ok(below > 5, "%u windows are below one segment at the end", below);
    is_int((long long)traffic().counts[NET_DROPPED_FULL], 0, "nothing is dropped");
    tear_down();
}

/* ---- dcqcn ---- */

#define LOSSLESS                                                                         \
    "net.model=packet,net.packet.transport=message,net.packet.fabric=pfc,"               \
    "net.latency=1us,net.bandwidth=10Gbps,net.hop_latency=1us,net.packet.buffer=256KiB," \
    "net.packet.red_low=8KiB,net.packet.red_high=100KiB,net.packet.red_chance=0.02,"     \
    "net.packet.rate_control="

/* Senders slow down before buffers are full, share the link, and keep it busy. */
static void test_dcqcn_shares(void)
{
    static const char *const names[] = {"none", "dcqcn"};
    uint64_t pauses[2];

    for (int i = 0; i < 2; i++) {
        double share, jain;

        char settings[500];

        snprintf(settings, sizeof settings, LOSSLESS "%s", names[i]);
        set_up(settings, 5);
        share = share_of(4, 1500, 1e10);
        pauses[i] = traffic().counts[NET_PAUSES];
        ok(share > 0.85, "%s: four senders use %.3f of the link", names[i], share);
        ok((traffic().counts[NET_MARKED] > 0) == i, "%llu packets are marked",
           (unsigned long long)traffic().counts[NET_MARKED]);
        is_int((long long)traffic().counts[NET_IN_FLIGHT], 0, "none is left");
        tear_down();
        set_up(settings, 5);
        jain = fairness(4, 1500);
        ok(jain > 0.95, "Jain's index is %.3f", jain);
        tear_down();
    }
    ok(pauses[0] > 5 * pauses[1], "%llu pauses, and without it %llu", (unsigned long long)pauses[1],
       (unsigned long long)pauses[0]);
}

static vtime last_of(uint32_t rank, int messages)
{
    uint64_t cookie;
    vtime at = 0;

    while (messages-- > 0)
        at = take(rank, &cookie);
    return at;
}

/* Four flows fill the link into node 4, two of them from the other switch. The victim shares only
 * the link between the switches with these, which would take it all; without rate control it waits
 * behind them. */
static void test_dcqcn_victim(void)
{
    static const char *const names[] = {"none", "dcqcn"};
    static const uint32_t from[] = {0, 1, 6, 7};
    vtime took[2];

    for (int i = 0; i < 2; i++) {
        char settings[500];

        snprintf(settings, sizeof settings,
                 LOSSLESS "%s,net.topology.kind=fat-tree,net.topology.down=4x2,net.topology.up=1x1",
                 names[i]);
        set_up(settings, 8);
        for (int k = 0; k < 1000; k++) {
            for (int f = 0; f < 4; f++)
                submit(from[f], 4, 65536, 0, PROGRAM, 0);
            if (k < 500)
                submit(2, 5, 65536, 0, PROGRAM, 0);
        }
        advance_all();
        took[i] = last_of(5, 500);
        last_of(4, 4000);
        tear_down();
    }
    ok(took[1] < took[0] - took[0] / 4, "the victim takes %.1f ms, and without it %.1f",
       1e3 * vtime_to_seconds(took[1]), 1e3 * vtime_to_seconds(took[0]));
}

int main(void)
{
    test_bbr_queue();
    test_bbr_loss();
    test_bbr_shares();
    test_bbr_probes();
    test_dctcp();
    test_swift_queue();
    test_swift_shares();
    test_swift_incast();
    test_dcqcn_shares();
    test_dcqcn_victim();
    return done_testing();
}
