/*
 * LogGOPS against its closed form: gaps between a rank's messages, pieces of the cost curve, nodes.
 */
#include "net/net.h"

#include <math.h>
#include <string.h>

#include "tap.h"

static struct net net;
static struct err err;
static struct platform machine;

static int init(const char *settings)
{
    if (net.ops)
        net_fini(&net);
    platform_config_init(&machine.config);
    int rc = platform_set(&machine, settings, NULL, &err);
    if (rc == 0)
        rc = net_init(&net, &machine, 8, &err);
    if (rc)
        net.ops = NULL;
    return rc;
}

/* When the message of a rank leaves: it arrives L + n G later. */
static vtime leaves(uint32_t index, uint32_t dst, uint64_t bytes, vtime t)
{
    return net.ops->arrival(&net, index, index, dst, bytes, t) -
           net_delay(&net, index, dst, bytes, t);
}

static void test_gap(void)
{
    is_int(init("net.model=loggops,net.latency=5us,net.bandwidth=8Gbps,net.gap=2us"), 0,
           "g = 2 us");
    is_int(leaves(0, 1, 1000, 0), 0, "the first message leaves at once");
    is_int(leaves(0, 1, 1000, 0), 3 * VTIME_US, "the second after g + n G");
    is_int(leaves(0, 2, 0, 0), 6 * VTIME_US, "to whomever");
    is_int(leaves(0, 2, 0, 100 * VTIME_US), 100 * VTIME_US, "a late one at once");
    is_int(leaves(1, 2, 0, 0), 0, "another rank's do not wait");
    is_int(net_delay(&net, 0, 1, 1000, 0), 6 * VTIME_US, "L + n G");
    is_int(net.lookahead, 5 * VTIME_US, "the lookahead is L");
}

static void test_nodes(void)
{
    is_int(init("net.model=loggops,nodes.ranks=4,net.latency=5us,net.bandwidth=8Gbps,"
                "net.intra.latency=1us,net.intra.bandwidth=80Gbps"),
           0, "4 ranks per node");
    is_int(net_delay(&net, 0, 3, 1000, 0), VTIME_US + 100 * VTIME_NS, "within a node");
    is_int(net_delay(&net, 3, 4, 1000, 0), 6 * VTIME_US, "between nodes");
    is_int(net.lookahead, VTIME_US, "the lookahead is the smaller latency");
    is_int(init("net.model=loggops,nodes.ranks=4,nodes.placement=cyclic,net.latency=5us"), 0,
           "cyclic");
    is_int(net_node(&net, 2), 0, "two nodes take turns");
    is_int(net_node(&net, 5), 1, "two nodes take turns");
    is_int(init("net.model=loggops,nodes.count=1,nodes.ranks=4"), ERR_INPUT, "too few nodes");
    ok(strstr(err.text, "8 ranks need 2 nodes"), "say how many are needed");
}

static void test_pieces(void)
{
    struct platform_segment given[] = {
        {1024, 2 * VTIME_US, NAN, VTIME_NEVER, 700, VTIME_NEVER, VTIME_NEVER},
        {0, VTIME_NEVER, 8e9, VTIME_NEVER, VTIME_NEVER, 1024, VTIME_NEVER},
        {65536, VTIME_NEVER, 4e9, 5, VTIME_NEVER, VTIME_NEVER, 2048},
    };
    machine.lists[PLATFORM_SEGMENTS] = (struct platform_list){given, 3};
    is_int(init("net.model=loggops,net.latency=1us,net.bandwidth=2Gbps,mpi.send_overhead=10ps"), 0,
           "three pieces, in any order");
    is_int(net_delay(&net, 0, 1, 1000, 0), 2 * VTIME_US, "the first: its bandwidth");
    is_int(net_delay(&net, 0, 1, 1024, 0), 2 * VTIME_US + 4096 * VTIME_NS,
           "the second: its latency");
    is_int(net_delay(&net, 0, 1, 65535, 0), 2 * VTIME_US + 65535 * 4 * VTIME_NS, "up to its end");
    is_int(net_delay(&net, 0, 1, 65536, 0), VTIME_US + 65536 * 2 * VTIME_NS, "the third");
    is_int(net_send_cost(&net, 0, 1, 100), 110, "overhead and overhead per byte");
    is_int(net_recv_cost(&net, 0, 1, 2000), 700, "the receiver's");
    is_int(net_send_cost(&net, 0, 1, 65536), 5, "of the third piece");
    is_int(net_recv_cost(&net, 0, 1, 65536), 131072, "2 ps per byte");
    is_int(net_drain(&net, 0, 1, 65536, 0), 65536 * 2 * VTIME_NS, "the sender is busy");
    is_int(net.lookahead, VTIME_US, "the lookahead is the smallest latency");
    given[2].from = 0;
    is_int(init("net.model=loggops"), ERR_INPUT, "two pieces at one size are refused");
    ok(strstr(err.text, "net.segments"), "by name");
    machine.lists[PLATFORM_SEGMENTS] = (struct platform_list){0};
}

int main(void)
{
    plan_auto();
    test_gap();
    test_nodes();
    test_pieces();
    if (net.ops)
        net_fini(&net);
    return done_testing();
}
