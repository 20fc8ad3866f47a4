/*
 * Links of a packet network that differ: each loses packets at its own rate, and a route takes
 * packets of the least MTU of its links.
 */
#include <string.h>

#include "net/port_names.h"
#include "packet_transfer.h"
#include "tap.h"

#define BASE                                                                    \
    "net.model=packet,net.latency=1us,net.bandwidth=8Gbps,net.hop_latency=4us," \
    "net.packet.mtu=1000,net.packet.framing=0,net.packet.header=48,net.packet.jitter=0"
#define LINK(from, to) ",net.links[+].from=" from ",net.links[-1].to=" to ",net.links[-1]"
#define TCP BASE ",net.packet.delayed_ack=0s,net.packet.queue=64MiB"
#define MESSAGE BASE ",net.packet.transport=message,net.packet.fabric=credit"

/* What the link of this name carried. */
struct wanted {
    const char *name;
    struct net_traffic_link found;
};

static void take_link(void *owner, const struct net_traffic_link *link)
{
    struct wanted *w = owner;
    char name[NET_NAME_MAX];

    net_link_name(net.topo, link->link, name, sizeof name);
    if (strcmp(name, w->name) == 0)
        w->found = *link;
}

static struct net_traffic_link carried(const char *name)
{
    struct wanted w = {name, {0}};

    net.ops->links(&net, take_link, &w);
    return w.found;
}

static void drain(uint32_t rank, int count)
{
    uint64_t cookie;

    for (int i = 0; i < count; i++)
        ok(take(rank, &cookie) >= 0, "message %d comes to rank %u", i, rank);
}

/* ---- error rates ---- */

static void test_errors(void)
{
    vtime last[4];

    set_up(TCP LINK("n1", "s0") ".error_rate=0.05", 3);
    transfer(2, 20, last);
    ok(carried("n1-s0").dropped > 20, "a link loses packets: %llu",
       (unsigned long long)carried("n1-s0").dropped);
    ok(carried("s0-n1").dropped > 5, "and its other direction");
    is_int((long long)(carried("n2-s0").dropped + carried("s0-n0").dropped), 0, "no other does");
    ok(last[2] < last[1], "and what goes over others is not late");
    tear_down();
    set_up(TCP ",net.packet.error_rate=0.05" LINK("n1", "s0") ".error_rate=0", 3);
    transfer(2, 20, last);
    is_int((long long)carried("n1-s0").dropped, 0, "a link that loses nothing among others");
    ok(carried("n2-s0").dropped > 20, "which do");
    tear_down();
}

/* Of 2000 packets the first half passes, and none is lost behind that. */
static void test_times(void)
{
    vtime half = 1000 * 1000 * VTIME_NS;

    set_up(TCP LINK("n1", "s0") ".error_rate=0.02" LINK("n1",
                                                        "s0") ".error_rate=0,net.links[-1].at=1ms",
           2);
    submit(1, 0, 948 * 400 - 48, 0, PROGRAM, 0);
    submit(1, 0, 948 * 400 - 48, 1000 * half, PROGRAM, 0);
    advance_all();
    drain(0, 2);
    ok(carried("n1-s0").dropped > 0, "packets are lost at first");
    is_int(medium.next(medium.owner) == VTIME_NEVER, 1, "all is over");
    tear_down();
    set_up(TCP LINK("n1", "s0") ".error_rate=0.02,net.links[-1].at=1s", 2);
    submit(1, 0, 948 * 400 - 48, 0, PROGRAM, 0);
    advance_all();
    drain(0, 1);
    is_int((long long)carried("n1-s0").dropped, 0, "nothing is lost before that time");
    submit(1, 0, 948 * 400 - 48, 2 * VTIME_S, PROGRAM, 0);
    advance_all();
    drain(0, 1);
    ok(carried("n1-s0").dropped > 0, "and something behind it");
    tear_down();
}

/* ---- MTUs ---- */

/* A segment has 448 bytes where an MTU of 500 is on the route; what else there is: a SYN. */
static void test_tcp(void)
{
    const uint64_t bytes = 448 * 100;

    set_up(TCP LINK("s0", "n1") ".mtu=500,net.links[-1].both=false", 3);
    submit(0, 1, bytes - 48, 0, PROGRAM, 0);
    submit(0, 2, 948 * 100 - 48, 0, PROGRAM, 0);
    advance_all();
    drain(1, 1);
    drain(2, 1);
    is_int((long long)carried("s0-n1").packets, 1 + 100, "segments of the least MTU");
    is_int((long long)carried("s0-n1").bytes, 60 + 100 * 500, "in bytes");
    is_int((long long)carried("s0-n2").packets, 1 + 100, "on another route they are larger");
    is_int((long long)carried("s0-n2").bytes, 60 + 100 * 1000, "in bytes");
    submit(1, 0, 948 * 10 - 48, VTIME_S, PROGRAM, 0);
    advance_all();
    drain(0, 1);
    is_int((long long)carried("n1-s0").bytes, 60 + 100 * 52 + 10 * 1000,
           "and the way back has its own");
    tear_down();
    set_up(TCP LINK("s0", "n1") ".mtu=9000", 2);
    submit(0, 1, 948 * 100 - 48, 0, PROGRAM, 0);
    advance_all();
    drain(1, 1);
    is_int((long long)carried("s0-n1").packets, 1 + 100, "a larger one does not count alone");
    tear_down();
    set_up(TCP LINK("s0", "n1") ".mtu=9000" LINK("n0", "s0") ".mtu=8000", 2);
    submit(0, 1, 7948 * 100 - 48, 0, PROGRAM, 0);
    advance_all();
    drain(1, 1);
    is_int((long long)carried("s0-n1").packets, 1 + 100, "but where all links are larger");
    tear_down();
}

/* The first route breaks, and the other one takes less: segments become smaller, and all arrive. */
static void test_other_route(void)
{
    struct net_traffic_link small;

    set_up(TCP ",net.topology.kind=torus,net.topology.dims=4" LINK("s3", "s2") ".mtu=300" LINK(
               "s0", "s1") ".bandwidth_factor=0,net.links[-1].at=200us",
           4);
    submit(0, 2, 1000000, 0, PROGRAM, 0);
    advance_all();
    drain(2, 1);
    ok(carried("s0-s1").bytes > 80000, "much goes over the first route");
    small = carried("s3-s2");
    ok(small.packets > 3000 && small.bytes <= 300 * small.packets, "%llu bytes in %llu packets",
       (unsigned long long)small.bytes, (unsigned long long)small.packets);
    ok(small.bytes > 298 * small.packets, "which are full, but for parts of earlier ones");
    tear_down();
}

static void test_message(void)
{
    set_up(MESSAGE LINK("s0", "n1") ".mtu=526", 3);
    submit(0, 1, 500 * 100 - 48, 0, PROGRAM, 0);
    submit(0, 2, 974 * 100 - 48, 0, PROGRAM, 0);
    advance_all();
    drain(1, 1);
    drain(2, 1);
    is_int((long long)carried("s0-n1").packets, 100, "packets of the least MTU");
    is_int((long long)carried("s0-n1").bytes, 100 * 526, "in bytes");
    is_int((long long)carried("s0-n2").packets, 100, "larger ones on another route");
    tear_down();
    set_up(MESSAGE ",net.packet.fabric=pfc" LINK("s0", "n1") ".mtu=526", 2);
    submit(0, 1, 500 * 100 - 48, 0, PROGRAM, 0);
    advance_all();
    drain(1, 1);
    is_int((long long)carried("n0-s0").bytes, 100 * 526, "with pfc, too");
    tear_down();
}

/* Packets of background load are cut, and their rate stays. */
static void test_background(void)
{
    set_up(TCP LINK("s0",
                    "n1") ".mtu=500,net.packet.background[+].from=0,net.packet.background[-1]."
                          "to=1,net.packet.background[-1].rate=800Mbps,net.packet.background"
                          "[-1].until=1ms",
           2);
    advance_all();
    is_int((long long)carried("s0-n1").packets, 200, "packets of 500 bytes, 5 us apart");
    is_int((long long)carried("s0-n1").bytes, 100000, "in bytes");
    tear_down();
}

static void test_wrong(void)
{
    static const char *const wrong[][2] = {
        {"net.links[+].from=n0,net.links[-1].to=s0,net.links[-1].mtu=100",
         "net.links[0]: mtu: '100' is too small: transport 'tcp' needs at least 104"},
        {"net.links[+].from=n0,net.links[-1].to=s0,net.links[-1].mtu=65536",
         "net.links[0]: mtu: at most 65535"},
        {"net.links[+].from=n0,net.links[-1].to=s0,net.links[-1].mtu=9000,net.links[-1].at=1s",
         "net.links[0]: mtu: a link keeps it"},
        {"net.links[+].from=n0,net.links[-1].to=s0,net.links[-1].error_rate=1",
         "net.links[0]: error_rate: must be below 1"},
        {"net.packet.queue=5000,net.links[+].from=n0,net.links[-1].to=s0,net.links[-1].mtu=9000",
         "net.packet.queue: '5000' bytes hold no packet"},
        {"net.packet.transport=message,net.packet.fabric=credit,net.links[+].from=n0,net.links[-1]."
         "to=s0,net.links[-1].error_rate=0.1",
         "net.links[0]: error_rate: transport 'message' needs a network that loses nothing"},
    };

    are_refused(BASE, wrong, sizeof wrong / sizeof wrong[0]);
}

int main(void)
{
    test_errors();
    test_times();
    test_tcp();
    test_other_route();
    test_message();
    test_background();
    test_wrong();
    return done_testing();
}
