/*
 * What changes in a packet network during a run, against closed forms: options of connections, and
 * background load.
 */
#include "net/packet/packet_internal.h"

#include <string.h>

#include "net_medium.h"
#include "tap.h"

/* A byte takes a nanosecond. A packet has 974 bytes of a message, or 1000 bytes in all. */
#define NET                                                                          \
    "net.model=packet,net.packet.transport=message,net.packet.fabric=credit,"        \
    "net.latency=1us,net.bandwidth=8Gbps,net.hop_latency=300ns,net.packet.mtu=1000," \
    "net.packet.framing=0,net.packet.header=1"
#define LOAD(from, to, rate, at, until)                                         \
    ",net.packet.background[+].from=" from ",net.packet.background[-1].to=" to  \
    ",net.packet.background[-1].rate=" rate ",net.packet.background[-1].at=" at \
    ",net.packet.background[-1].until=" until ",net.packet.background[-1].size=1000"
enum { PAYLOAD = 974 };
#define T VTIME_US /* of a packet on a link */
#define DELAY (300 * VTIME_NS)

static uint64_t packets(uint64_t n)
{
    return n * PAYLOAD - 1;
}

/* The send buffer has room for two packets, and from 5 us on for all: then the sender continues. */
static void test_options(void)
{
    set_up(NET ",net.packet.send_buffer=1948,net.packet.connections[+].from=0,"
               "net.packet.connections[-1].to=1,net.packet.connections[-1].send_buffer=1MiB,"
               "net.packet.connections[-1].at=5us",
           2);
    submit(0, 1, packets(2), 0, PROGRAM, 7);
    submit(0, 1, packets(10), 0, PROGRAM, 8);
    advance_all();
    is_next(0, 0, 7, "there is room for two packets");
    is_next(0, 5 * T, 8, "then the buffer is larger");
    is_next(1, (2 + 1) * T + DELAY + VTIME_US, 0, "the first arrives");
    is_next(1, (12 + 1) * T + DELAY + VTIME_US, 0, "the second");
    tear_down();
}

/* It changes when nothing is in flight: what is sent later has the new options. */
static void test_options_idle(void)
{
    set_up(NET ",net.packet.connections[+].from=0,net.packet.connections[-1].to=1,"
               "net.packet.connections[-1].send_buffer=1948,net.packet.connections[-1].at=1ms",
           2);
    submit(0, 1, packets(12), 0, PROGRAM, 7);
    submit(0, 1, packets(12), 2 * VTIME_MS, PROGRAM, 8);
    advance_all();
    is_next(0, 0, 7, "at first there is room");
    is_next(0, 2 * VTIME_MS + 10 * T, 8, "then for two packets only");
    is_next(1, (12 + 1) * T + DELAY + VTIME_US, 0, "the first arrives");
    is_next(1, 2 * VTIME_MS + (12 + 1) * T + DELAY + VTIME_US, 0, "the second");
    tear_down();
}

/* Fifty packets of others on a link that is always busy. */
static void test_library(void)
{
    struct net_traffic t;

    set_up(NET LOAD("2", "1", "4Gbps", "10us", "110us"), 3);
    submit(0, 1, packets(200), 0, PROGRAM, 0);
    advance_all();
    is_next(1, (200 + 50 + 1) * T + DELAY + VTIME_US, 0, "the message shares the last link");
    net_traffic(&net, &t);
    is_int((long long)t.counts[NET_BACKGROUND], 50, "packets of others");
    is_int((long long)t.counts[NET_PACKETS], 250, "packets in all");
    is_int((long long)t.counts[NET_DELIVERED], 250, "all arrive");
    is_int((long long)t.counts[NET_IN_FLIGHT], 0, "and none is left");
    tear_down();
}

/* Two intervals with different rates; queues that are full drop packets of others, too. */
static void test_drops(void)
{
    struct net_traffic t;

    set_up(NET ",net.packet.transport=tcp,net.packet.fabric=drop-tail,net.packet.queue=4KiB" LOAD(
               "1", "0", "8Gbps", "0us", "1ms") LOAD("2", "0", "4Gbps", "500us", "1ms"),
           3);
    advance_all();
    net_traffic(&net, &t);
    is_int((long long)t.counts[NET_BACKGROUND], 1000 + 250, "packets of both");
    ok(t.counts[NET_DROPPED_FULL] > 200 && t.counts[NET_DROPPED_FULL] < 250,
       "too many are dropped");
    is_int((long long)(t.counts[NET_DELIVERED] + t.counts[NET_DROPPED_FULL]), 1250,
           "all are accounted for");
    tear_down();
}

static void refuses(const char *settings, const char *why)
{
    platform_init(&machine);
    ok(platform_set(&machine, settings, NULL, &err) == 0 &&
           net_init(&net, &machine, 3, &err) != 0 && strstr(err.text, why),
       "%s: %s", why, err.text);
    platform_fini(&machine);
}

int main(void)
{
    plan_auto();
    test_options();
    test_options_idle();
    test_library();
    test_drops();
    refuses(NET LOAD("7", "1", "1Gbps", "0s", "1s"), "there is no node 7");
    refuses(NET LOAD("1", "1", "1Gbps", "0s", "1s"), "no link to itself");
    refuses(NET LOAD("0", "1", "1Gbps", "2s", "1s"), "`until` must be later than `at`");
    return done_testing();
}
