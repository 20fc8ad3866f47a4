/*
 * LogGOPS against its closed forms: adapters at both ends, notices, nodes, pieces of the cost
 * curve.
 */
#include <math.h>

#include "net_medium.h"

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

#define NET "net.model=loggops,net.latency=5us,net.bandwidth=8Gbps,net.gap=2us"

/* A program sends: the device knows at once when that leaves. */
static void send(uint32_t src, uint32_t dst, uint64_t bytes, vtime t)
{
    struct note *n = (struct note *)engine_msg_alloc(&engine, sizeof *n);
    struct device device = {net.device, &engine, &net};

    n->em.src = src;
    n->em.dst = dst;
    n->cookie = 0;
    device_send(&device, &n->em,
                &(struct device_send){.t = t, .bytes = bytes, .order = PROGRAM, .alone = 1});
}

/* G is 1 ns. */
static void test_sender(void)
{
    set_up(NET, 4);
    for (int by_device = 0; by_device < 2; by_device++) {
        vtime start = by_device * VTIME_MS;
        const struct {
            uint32_t src, dst;
            uint64_t bytes;
            vtime t;
        } sent[] = {{0, 1, 1000, 0},
                    {0, 2, 1000, 0},
                    {0, 3, 0, 0},
                    {1, 0, 1000, 0},
                    {0, 3, 0, 100 * VTIME_US}};

        for (size_t i = 0; i < sizeof sent / sizeof sent[0]; i++) {
            if (by_device)
                send(sent[i].src, sent[i].dst, sent[i].bytes, start + sent[i].t);
            else
                submit(sent[i].src, sent[i].dst, sent[i].bytes, start + sent[i].t, PROGRAM, 0);
        }
        advance_all();
        is_next(1, start + 6 * VTIME_US, 0, "L + n G");
        is_next(2, start + 9 * VTIME_US, 0, "the second after g + n G, to whomever");
        is_next(3, start + 11 * VTIME_US, 0, "the third after both");
        is_next(0, start + 6 * VTIME_US, 0, "another rank's do not wait");
        is_next(3, start + 105 * VTIME_US, 0, "a late one leaves at once");
    }
    tear_down();
}

static void test_receiver(void)
{
    set_up(NET, 4);
    submit(3, 0, 1000, 0, PROGRAM, 0);
    submit(2, 0, 500, 0, PROGRAM, 0);
    submit(1, 0, 0, 100 * VTIME_NS, PROGRAM, 0);
    advance_all();
    is_next(0, 5500 * VTIME_NS, 0, "of two that come at once, that of the smaller rank first");
    is_next(0, 8500 * VTIME_NS, 0, "the other one after g, with n G");
    is_next(0, 10500 * VTIME_NS, 0, "an empty one waits, too");
    tear_down();

    set_up(NET ",mpi.recv_overhead=3us", 4);
    submit(1, 0, 1000, 0, PROGRAM, 0);
    submit(2, 0, 1000, 0, PROGRAM, 0);
    advance_all();
    is_next(0, 6 * VTIME_US, 0, "a message");
    is_next(0, 10 * VTIME_US, 0, "the next one when the processor has received that");
    tear_down();
}

/* Data that somebody waits to be sent: two notices, and the program's own message in between. */
static void test_notices(void)
{
    set_up(NET, 4);
    submit(0, 1, 3000, 0, 0, 77);
    submit(0, 2, 0, VTIME_US, PROGRAM, 0);
    submit(0, 3, 1000, VTIME_US, 0, 99);
    is_int((long long)medium.notices(medium.owner), 2, "two notices are pending");
    advance_all();
    is_next(0, 3 * VTIME_US, 77, "the first has left");
    is_next(1, 8 * VTIME_US, 0, "the first arrives");
    is_next(2, 10 * VTIME_US, 0, "the program's goes before what has no order at the same time");
    is_next(0, 8 * VTIME_US, 99, "which leaves then");
    is_next(3, 13 * VTIME_US, 0, "the second");
    is_int((long long)medium.notices(medium.owner), 0, "no notice is pending");
    tear_down();
}

static void test_shared(void)
{
    set_up(NET ",nodes.ranks=2,net.intra.latency=1us,net.intra.bandwidth=16Gbps", 4);
    submit(0, 2, 1000, 0, PROGRAM, 0);
    submit(1, 3, 1000, 0, PROGRAM, 0);
    submit(0, 1, 1000, 0, AGENT, 0);
    submit(1, 0, 1000, 0, AGENT, 0);
    advance_all();
    is_next(2, 6 * VTIME_US, 0, "a message of a node");
    is_next(3, 9 * VTIME_US, 0, "its adapter sends that of another rank after it");
    is_next(1, 1500 * VTIME_NS, 0, "within the node, without g");
    is_next(0, 1500 * VTIME_NS, 0, "each rank on its own");
    tear_down();
}

static void test_free_bytes(void)
{
    set_up(NET ",net.free_bytes=1", 2);
    submit(0, 1, 1, 0, PROGRAM, 0);
    submit(0, 1, 1001, 0, PROGRAM, 0);
    submit(0, 1, 0, 0, PROGRAM, 0);
    advance_all();
    is_next(1, 5 * VTIME_US, 0, "the first byte takes no time");
    is_next(1, 8 * VTIME_US, 0, "(n - 1) G");
    is_next(1, 10 * VTIME_US, 0, "an empty message is not faster");
    tear_down();
}

static void test_nodes(void)
{
    is_int(init("net.model=loggops,nodes.ranks=4,net.latency=5us,net.bandwidth=8Gbps,"
                "net.intra.latency=1us,net.intra.bandwidth=80Gbps"),
           0, "4 ranks per node");
    is_int(net_delay(&net, 0, 3, 1000, 0), VTIME_US + 100 * VTIME_NS, "within a node");
    is_int(net_delay(&net, 3, 4, 1000, 0), 6 * VTIME_US, "between nodes");
    is_int(net.lookahead, VTIME_US / 2, "the lookahead is half of the smaller latency");
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
    is_int(net.lookahead, VTIME_US / 2, "the lookahead is half of the smallest latency");
    given[2].from = 0;
    is_int(init("net.model=loggops"), ERR_INPUT, "two pieces at one size are refused");
    ok(strstr(err.text, "net.segments"), "by name");
    machine.lists[PLATFORM_SEGMENTS] = (struct platform_list){0};
}

int main(void)
{
    plan_auto();
    test_sender();
    test_receiver();
    test_notices();
    test_shared();
    test_free_bytes();
    net.ops = NULL;
    test_nodes();
    test_pieces();
    if (net.ops)
        net_fini(&net);
    return done_testing();
}
