/*
 * The packet network as the engine's medium, against closed forms: how long packets take over links
 * and through queues, what full buffers hold back, what full queues drop.
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
enum { PAYLOAD = 974 };
#define T VTIME_US /* of a packet on a link */
#define DELAY (300 * VTIME_NS)

/* The bytes that a program sends as so many packets. */
static uint64_t packets(uint64_t n)
{
    return n * PAYLOAD - 1;
}

/* The first packet is stored and forwarded at each switch, and the others follow it. */
static void test_links(void)
{
    for (uint64_t k = 1; k <= 4096; k *= 8) {
        set_up(NET, 2);
        submit(0, 1, packets(k), 0, PROGRAM, 0);
        advance_all();
        is_next(1, (vtime)(k + 1) * T + DELAY + VTIME_US, 0, "two links");
        tear_down();
    }
    set_up(NET ",net.topology.kind=torus,net.topology.dims=8", 8);
    submit(0, 3, packets(5), 0, PROGRAM, 0);
    advance_all();
    is_next(3, (5 + 4) * T + 4 * DELAY + VTIME_US, 0, "five links, four of them into switches");
    tear_down();
    set_up(NET, 2);
    submit(0, 1, 0, 5 * VTIME_US, PROGRAM, 0);
    advance_all();
    is_next(1, 5 * VTIME_US + 2 * 27 * VTIME_NS + DELAY + VTIME_US, 0, "only headers");
    tear_down();
}

/* The buffer of a link has room for one packet: it is free when the packet has left the switch, and
 * the sender knows a delay later. */
static void test_credit(void)
{
    set_up(NET ",net.packet.buffer=1000", 2);
    submit(0, 1, packets(10), 0, PROGRAM, 0);
    advance_all();
    is_next(1, 9 * (2 * T + 2 * DELAY) + 2 * T + DELAY + VTIME_US, 0, "one packet at a time");
    tear_down();
    set_up(NET ",net.packet.buffer=2999", 2);
    submit(0, 1, packets(10), 0, PROGRAM, 0);
    advance_all();
    is_next(1, 4 * (2 * T + 2 * DELAY) + 3 * T + DELAY + VTIME_US, 0, "two at a time");
    tear_down();
}

/* The second link has half the rate of the first: its switch pauses the sender again and again, the
 * slow link never waits, and the buffer never overflows. */
static void test_pfc(void)
{
    static const char *const limits[] =
        {"", ",net.packet.pause_above=4000",
         ",net.packet.pause_above=4000,net.packet.resume_below=3000"};
    struct net_traffic t;

    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++) {
        char settings[600];

        snprintf(settings, sizeof settings,
                 NET ",net.packet.fabric=pfc,net.packet.buffer=8000,net.links[+].from=s0,"
                     "net.links[-1].to=n1,net.links[-1].bandwidth=4Gbps%s",
                 limits[i]);
        set_up(settings, 2);
        submit(0, 1, packets(100), 0, PROGRAM, 0);
        advance_all();
        is_next(1, T + DELAY + 100 * 2 * T + VTIME_US, 0, "the slow link is always busy");
        net_traffic(&net, &t);
        ok(t.counts[NET_PAUSES] > 10, "%llu pauses", (unsigned long long)t.counts[NET_PAUSES]);
        is_int((long long)t.counts[NET_DELIVERED], 100, "nothing is dropped");
        ok(t.counts[NET_QUEUE_MAX] <= 8000, "the longest queue has %llu bytes",
           (unsigned long long)t.counts[NET_QUEUE_MAX]);
        tear_down();
    }
    /* One packet above 0 bytes: the sender pauses after each, which it hears a delay later. */
    set_up(NET ",net.packet.fabric=pfc,net.packet.buffer=8000,net.packet.pause_above=1,"
               "net.links[+].from=s0,net.links[-1].to=n1,net.links[-1].bandwidth=4Gbps",
           2);
    submit(0, 1, packets(4), 0, PROGRAM, 0);
    advance_all();
    /* Packet 0 arrives at T + d and pauses the sender at T + 2d, when packet 1 is on its way. Both
     * have left at 5 T + d, the sender hears it at 5 T + 2d, and two more follow. */
    is_next(1, 5 * T + 2 * DELAY + T + DELAY + 4 * T + VTIME_US, 0, "two packets at a time");
    tear_down();
}

/* Many to one: the last link carries all, and nothing is dropped, whatever the buffers. */
static void test_incast(void)
{
    struct net_traffic t;
    vtime last = 0;
    uint64_t cookie;

    set_up(NET ",net.packet.buffer=4000", 8);
    for (uint32_t i = 1; i < 8; i++)
        submit(i, 0, packets(100), 0, PROGRAM, 0);
    advance_all();
    for (int i = 1; i < 8; i++) {
        vtime at = take(0, &cookie);

        last = at > last ? at : last;
    }
    is_int(last, (7 * 100 + 1) * T + DELAY + VTIME_US, "the last link is always busy");
    net_traffic(&net, &t);
    is_int((long long)t.counts[NET_PACKETS], 700, "packets");
    is_int((long long)t.counts[NET_DELIVERED], 700, "all arrive");
    is_int((long long)t.counts[NET_HOPS], 1400, "over two links each");
    is_int((long long)t.link[0].busy, 700 * T, "the busiest link");
    is_int((long long)t.link[0].to, 0, "is the one to node 0");
    tear_down();
}

/* The sender continues when its message is in the send buffer. */
static void test_pressure(void)
{
    set_up(NET ",net.packet.send_buffer=1948", 2);
    submit(0, 1, packets(2), 0, PROGRAM, 7);
    submit(0, 1, packets(10), 0, PROGRAM, 8);
    submit(0, 1, packets(1), 0, PROGRAM, 9);
    is_int((long long)medium.notices(medium.owner), 3, "three wait");
    advance_all();
    is_next(0, 0, 7, "there is room for two packets");
    is_next(0, 10 * T, 8, "two of twelve are left");
    is_next(0, 11 * T, 9, "two of thirteen are left");
    is_next(1, (2 + 1) * T + DELAY + VTIME_US, 0, "the first arrives");
    is_next(1, (12 + 1) * T + DELAY + VTIME_US, 0, "the second");
    is_next(1, (13 + 1) * T + DELAY + VTIME_US, 0, "the third");
    is_int((long long)medium.notices(medium.owner), 0, "nobody waits");
    tear_down();
}

/* Two streams of a node take turns, two packets each. */
static void test_turns(void)
{
    set_up(NET, 3);
    submit(0, 1, packets(100), 0, PROGRAM, 0);
    submit(0, 2, packets(10), 0, PROGRAM, 0);
    advance_all();
    is_next(2, (20 + 1) * T + DELAY + VTIME_US, 0, "the short one");
    is_next(1, (110 + 1) * T + DELAY + VTIME_US, 0, "the long one");
    tear_down();
}

/* Which of two messages without order goes first depends on their ties, not on the submission. */
static void test_ties(void)
{
    for (uint64_t swap = 0; swap < 2; swap++) {
        set_up(NET, 2);
        for (uint64_t i = 0; i < 2; i++) {
            struct note *m = (struct note *)engine_msg_alloc(&engine, sizeof *m);

            m->em.dst = 1;
            m->em.src = 0;
            m->em.arrival = 0;
            m->cookie = i ^ swap; /* its name */
            medium.submit(medium.owner, &m->em,
                          &(struct engine_call){.load = packets(3), .tie = 10 + (i ^ swap)});
        }
        advance_all();
        is_next(1, 4 * T + DELAY + VTIME_US, 0, "the one with the smaller tie");
        is_next(1, 7 * T + DELAY + VTIME_US, 1, "the other one");
        tear_down();
    }
}

/* A link that is down for a while holds its packets. */
static void test_down(void)
{
    set_up(NET ",net.links[+].from=s0,net.links[-1].to=n1,net.links[-1].bandwidth_factor=0,"
               "net.links[-1].at=3500ns,net.links[-1].both=false,"
               "net.links[+].from=s0,net.links[-1].to=n1,net.links[-1].bandwidth_factor=1,"
               "net.links[-1].at=20us,net.links[-1].both=false",
           2);
    submit(0, 1, packets(4), 0, PROGRAM, 0);
    advance_all();
    is_next(1, 20 * VTIME_US + T + VTIME_US, 0, "three before it went down, one after it");
    tear_down();
}

/* ---- queues that drop ---- */

static uint64_t arrived;

static void sink(struct packet_net *n, struct packet *p, vtime now)
{
    (void)now;
    arrived++;
    packet_free(n, p);
}

static const struct packet_transport_ops sink_ops = {.name = "sink", .input = sink};

/* Sends so many packets of 1000 bytes from node 0 and node 1 to node 2 at the same time. */
static void burst(struct packet_net *n, uint32_t count, uint8_t flags)
{
    static struct packet_stream to;

    for (uint32_t i = 0; i < count; i++)
        for (uint32_t src = 0; src < 2; src++) {
            struct packet_route *r = packet_route_new(n, src, 2, 0);
            struct packet *p = packet_new(n, &to, r, sizeof *p, 1000);

            p->flags = flags;
            packet_route_unref(n, r);
            n->fabric->enqueue(n, p, 0);
        }
}

/* Two links feed one: every second packet waits, until the queue is full. A queue of q packets then
 * has room for one more whenever one has left. */
static void test_drop_tail(void)
{
    static const int queues[] = {1, 2, 7, 50};
    struct net_traffic t;

    for (int i = 0; i < 4; i++) {
        struct packet_net *n;
        char settings[400];

        snprintf(settings, sizeof settings, NET ",net.packet.queue=%d", 1000 * queues[i]);
        set_up(settings, 3);
        n = net.state;
        n->fabric = &packet_drop_tail_ops;
        n->transport = &sink_ops;
        arrived = 0;
        burst(n, 40, 0);
        advance_all();
        net_traffic(&net, &t);
        /* 80 packets come in 40 pairs; 40 leave meanwhile, the first at once. */
        int room = 40 + queues[i] < 80 ? 40 + queues[i] : 80;
        is_int((long long)arrived, room, "what was not dropped");
        is_int((long long)t.counts[NET_DROPPED_FULL], 80 - room, "what was");
        is_int((long long)t.counts[NET_QUEUE_MAX] >= 1000 * (queues[i] < 39 ? queues[i] : 39), 1,
               "the longest queue");
        tear_down();
    }
}

static void test_ecn(void)
{
    struct net_traffic t;
    struct packet_net *n;

    set_up(NET ",net.packet.queue=100000,net.packet.mark_above=10000", 3);
    n = net.state;
    n->fabric = &packet_ecn_ops;
    n->transport = &sink_ops;
    arrived = 0;
    burst(n, 40, PACKET_CAN_MARK);
    advance_all();
    net_traffic(&net, &t);
    is_int((long long)arrived, 80, "nothing is dropped");
    ok(t.counts[NET_MARKED] > 50 && t.counts[NET_MARKED] < 60,
       "those that found more than ten in the queue are marked (%llu)",
       (unsigned long long)t.counts[NET_MARKED]);
    tear_down();
}

/* ---- wrong settings ---- */

static void test_wrong(void)
{
    static const char *const wrong[][2] = {
        {"net.packet.transport=smoke", "net.packet.transport: unknown name 'smoke'"},
        {"net.packet.fabric=linen", "net.packet.fabric: unknown name 'linen'"},
        {"net.packet.fabric=ecn", "needs a network that loses nothing"},
        {"net.packet.error_rate=0.1", "needs a network that loses nothing"},
        {"net.packet.error_rate=1", "net.packet.error_rate: must be below 1"},
        {"net.packet.mtu=26", "net.packet.mtu: '26' is too small"},
        {"net.packet.mtu=70000", "net.packet.mtu: at most 65535"},
        {"net.packet.buffer=999", "net.packet.buffer: '999' bytes hold no packet"},
        {"net.packet.send_buffer=10", "net.packet.send_buffer: '10' bytes hold no packet"},
    };

    are_refused(NET, wrong, sizeof wrong / sizeof wrong[0]);
}

int main(void)
{
    test_links();
    test_credit();
    test_pfc();
    test_incast();
    test_pressure();
    test_turns();
    test_ties();
    test_down();
    test_drop_tail();
    test_ecn();
    test_wrong();
    return done_testing();
}
