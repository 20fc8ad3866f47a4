/*
 * Links that differ from what the topology says, from a time on (net.links), and ways around those
 * that are down.
 */
#include "find_link.h"
#include "topology_machine.h"

static struct topo_link link_at(const char *from, const char *to, vtime t)
{
    struct topo_link out = {0};
    uint32_t link;
    if (find_link(topo, from, to, &link, &err))
        diag("%s", err.text);
    else
        topo_link_at(topo, link, t, &out);
    return out;
}

static void test_star(void)
{
    struct platform_link *item = link_add("n0", "s0", 1, 0);
    item->bandwidth = 1e6;
    item->latency = 70 * VTIME_NS;
    item->both = 1;
    is_int(make("kind=star", 4), 0, "a star with a slow link for node 0");
    ok(link_at("n0", "s0", 0).bandwidth == 1e6, "its bandwidth");
    is_int(link_at("n0", "s0", 0).latency, 70 * VTIME_NS, "its latency");
    is_int(link_at("s0", "n0", 0).latency, 70 * VTIME_NS, "and back");
    ok(link_at("n1", "s0", 0).bandwidth == 1e9, "another's bandwidth");
    is_int(topo_distance(topo, 0, 1), 70 * VTIME_NS, "from it");
    is_int(topo_distance(topo, 1, 0), 71 * VTIME_NS, "to it");
    is_int(topo_distance(topo, 1, 2), VTIME_NS, "between others");
    is_int(topo_least_latency(topo), VTIME_NS, "least");
    machine_fini();
    item = link_add("s0", "n1", 1, VTIME_S);
    item->latency = 3;
    item = link_add("n2", "s0", 1, VTIME_S);
    item->latency = 5;
    is_int(make("kind=star", 4), 0, "links that become faster");
    is_int(topo_least_latency(topo), 5, "the least over all time");
    is_int(topo_distance(topo, 2, 1), VTIME_NS, "the distance is that at time 0");
    machine_fini();
    item = link_add("s5", "s4", 1, VTIME_S);
    item->latency = 7;
    is_int(make("kind=torus,dims=4x4", 16), 0, "a link between switches that becomes faster");
    is_int(topo_least_latency(topo), VTIME_NS + 7, "with the hop into the first switch");
    machine_fini();
}

/* Error rate and MTU: those of net.packet, or its own; the MTU does not change. */
static void test_packets(void)
{
    struct platform_link *item = link_add("n0", "s0", 1, 0);
    item->error_rate = 0.25;
    item->mtu = 9000;
    link_add("n0", "s0", 1, VTIME_S)->error_rate = 0;
    is_int(make("kind=star,!net.packet.error_rate=0.5,!net.packet.mtu=576", 4), 0, "a star");
    ok(link_at("n0", "s0", 0).error_rate == 0.25 && link_at("n0", "s0", 0).mtu == 9000, "its own");
    ok(link_at("n0", "s0", VTIME_S).error_rate == 0 && link_at("n0", "s0", VTIME_S).mtu == 9000,
       "another rate later");
    ok(link_at("n1", "s0", 0).error_rate == 0.5 && link_at("n1", "s0", 0).mtu == 576, "others");
    machine_fini();
    edge_add("n0", "s0", 1);
    edge_add("n1", "s0", 1);
    ((struct platform_edge *)machine.lists[PLATFORM_EDGES].items)[0].error_rate = 0.125;
    ((struct platform_edge *)machine.lists[PLATFORM_EDGES].items)[1].mtu = 4000;
    is_int(make("kind=graph,!net.packet.error_rate=0.5,!net.packet.mtu=576", 2), 0, "a graph");
    ok(link_at("n0", "s0", 0).error_rate == 0.125 && link_at("n0", "s0", 0).mtu == 576, "a rate");
    ok(link_at("s0", "n0", 0).error_rate == 0.5 && link_at("s0", "n0", 0).mtu == 4000, "an MTU");
    machine_fini();
    edge_add("n0", "n1", 1);
    is_int(make("kind=graph,!net.packet.error_rate=0.5,!net.packet.mtu=576", 2), 0, "two routers");
    ok(link_at("n0", "s0", 0).error_rate == 0 && link_at("n0", "s0", 0).mtu > 65535,
       "the link of a node to its own router has no limits");
    ok(link_at("s0", "s1", 0).error_rate == 0.5 && link_at("s0", "s1", 0).mtu == 576,
       "that between the routers has");
    machine_fini();
}

static void test_times(void)
{
    uint32_t link = 99, slow;
    link_add("s0", "s1", 0.5, 30);
    link_add("s0", "s1", 0, 10)->both = 1;
    link_add("s0", "s1", 1, 20);
    link_add("n3", "s3", 0.25, 20);
    is_int(make("kind=torus,dims=4", 4), 0, "a ring with changes");
    ok(link_at("s0", "s1", 9).bandwidth == 1e9, "before");
    ok(link_at("s0", "s1", 10).bandwidth == 0, "down");
    ok(link_at("s1", "s0", 1000).bandwidth == 0, "the other direction stays down");
    ok(link_at("s0", "s1", 20).bandwidth == 1e9, "up again");
    ok(link_at("s0", "s1", 30).bandwidth == 5e8, "half");
    is_int(topo_change(topo, 0, &link), 10, "the first");
    is_int(topo_change(topo, 2, &link), 20, "the next, after both directions");
    find_link(topo, "n3", "s3", &slow, &err);
    is_int(link, slow, "is that of the smaller number");
    is_int(topo_change(topo, 3, &link), 20, "two at that time");
    find_link(topo, "s0", "s1", &slow, &err);
    is_int(link, slow, "the other one");
    is_int(topo_change(topo, 4, &link), 30, "the last of five");
    is_int(topo_change(topo, 5, &link) == VTIME_NEVER, 1, "no more of them");
    is_str(route_text(0, 1, 0, 9), "n0 s0 s1 n1", "straight on");
    is_str(route_text(0, 1, 0, 10), "n0 s0 s3 s2 s1 n1", "round the ring");
    is_str(route_text(0, 1, 0, 25), "n0 s0 s1 n1", "straight on again");
    is_str(route_text(1, 0, 0, 25), "n1 s1 s2 s3 s0 n0", "but not back");
    is_int(topo_distance(topo, 0, 1), 2 * VTIME_NS, "the distance is that at time 0");
    machine_fini();
    link_add("s0", "s1", 0, 5)->bandwidth = 7e9;
    link_add("s0", "s1", 0.5, 6);
    link_add("s0", "s1", NAN, 7)->bandwidth = 2e9;
    link_add("s0", "s1", 1, 8)->bandwidth = 3e9;
    link_add("s0", "s1", 2, 8);
    is_int(make("kind=mesh,dims=2", 2), 0, "more of them");
    ok(link_at("s0", "s1", 6).bandwidth == 3.5e9, "a factor is of the last bandwidth");
    ok(link_at("s0", "s1", 7).bandwidth == 1e9, "a factor not given is as it was");
    ok(link_at("s0", "s1", 8).bandwidth == 6e9, "of two at a time the last counts");
    ok(topo_change(topo, 3, &link) == 8 && topo_change(topo, 4, &link) == VTIME_NEVER,
       "as one change");
    machine_fini();
}

static void test_cables(void)
{
    uint32_t first, second;
    link_add("s0", "s4#1", 0, 0);
    is_int(make("kind=fat-tree,down=2x4,up=1x1,parallel=1x2,!net.routing=dmodk", 8), 0,
           "a tree with double cables, one of them down");
    is_int(find_link(topo, "s0", "s4", &first, &err), 0, "the first cable");
    is_int(find_link(topo, "s0", "s4#1", &second, &err), 0, "the second cable");
    ok(first != second, "are two");
    ok(link_at("s0", "s4#0", 0).bandwidth > 0 && link_at("s0", "s4#1", 0).bandwidth == 0,
       "one of them is down");
    int good = 1;
    for (uint32_t dst = 2; dst < 8; dst++)
        good = good && topo_route(topo, 0, dst, 0, 0, NULL, &route, &err) == 0 &&
               route.links[1] == first;
    ok(good, "all go by the other one");
    machine_fini();
    link_add("s0", "s4", 0, 0);
    is_int(make("kind=fat-tree,down=2x4,up=1x1,parallel=1x2", 8), 0, "both down");
    is_str(route_text(0, 2, 0, 0), "error", "no route");
    ok(strstr(err.text, "no route from n0 to n2 at 0 s: all routes"), "and says so");
    is_str(route_text(0, 1, 0, 0), "n0 s0 n1", "but below the switch");
    is_int(topo_distance(topo, 0, 2) == VTIME_NEVER, 1, "infinitely far");
    machine_fini();
    link_add("s0", "n2", 0, 100);
    is_int(make("kind=switch", 4), 0, "a node's link down");
    is_str(route_text(0, 2, 0, 99), "n0 s0 n2", "not yet");
    is_str(route_text(0, 2, 0, 100), "error", "no route to it");
    ok(strstr(err.text, "a node's link is down"), "and says so");
    is_str(route_text(2, 0, 0, 100), "n2 s0 n0", "but from it");
    machine_fini();
}

/* The one link between two groups is down: all go by a third. */
static void test_groups(void)
{
    link_add("s0", "s7", 0, 10);
    is_int(make("kind=dragonfly", 72), 0, "a dragonfly that loses a link between groups");
    is_str(route_text(0, 8, 0, 9), "n0 s0 s7 s4 n8", "before");
    int good = 1;
    for (uint32_t src = 0; src < 8; src++)
        for (uint32_t dst = 8; dst < 16; dst++)
            good = good && topo_route(topo, src, dst, 0, 10, NULL, &route, &err) == 0 &&
                   route.count <= 7;
    ok(good, "then by another group");
    is_str(route_text(8, 0, 0, 10), "n8 s4 s7 s0 n0", "but not the other direction");
    machine_fini();
}

static void expect(const char *from, const char *to, const char *text)
{
    link_add(from, to, 0, 0);
    int e = make("kind=torus,dims=4x4", 16);
    ok(e == ERR_INPUT && strstr(err.text, text), "%s to %s: %s", from, to, e ? err.text : "none");
    ok(strncmp(err.text, "net.links[0]: ", 14) == 0, "which item");
    machine_fini();
}

static void test_errors(void)
{
    expect("n16", "s0", "there is no 'n16': the machine has 16 nodes");
    expect("s0", "s16", "there is no 's16': the machine has 16 switches");
    expect("s0", "s5", "there is no link from 's0' to 's5'");
    expect("n0", "s1", "there is no link");
    expect("n0", "n1", "there is no link");
    expect("s0", "s1#1", "there is no link");
    expect("x0", "s1", "bad name 'x0'");
    expect("s", "s1", "bad name 's'");
    expect("s1y", "s1", "bad name 's1y'");
    expect("s99999999999999999999", "s1", "there is no");
}

/* A large machine with a fault: the search stays in its surroundings. */
static void test_large(void)
{
    link_add("s0", "s1", 0, 0);
    link_add("s0", "s128", 0, 0);
    is_int(make("kind=torus,dims=128x128x64", 1048576), 0, "a large torus with faults");
    int e = topo_route(topo, 0, 63, 0, 0, NULL, &route, &err);
    ok(e == 0 && route.count == 2 + 65, "around: two links more (%d)", (int)route.count);
    machine_fini();
    link_add("s0", "s1", 0, 0);
    is_int(make("kind=dragonfly", 1048576), 0, "a large dragonfly with a fault");
    e = topo_route(topo, 0, 30, 0, 0, NULL, &route, &err);
    ok(e == 0 && route.count <= 6, "around: a few links");
    machine_fini();
}

int main(void)
{
    plan_auto();
    test_star();
    test_packets();
    test_times();
    test_cables();
    test_groups();
    test_errors();
    test_large();
    return done_testing();
}
