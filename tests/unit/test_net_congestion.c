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

int main(void)
{
    test_bbr_queue();
    test_bbr_loss();
    test_bbr_shares();
    test_bbr_probes();
    return done_testing();
}
