/*
 * SCTP over the packet network: opening, goodput on an idle link, shares of several senders,
 * losses, marks, full buffers, options of connections, and memory.
 */
#include "net/packet/sctp.h"

#include <stdlib.h>

#include "packet_transfer.h"
#include "pool_live.h"
#include "tap.h"

enum { MESSAGES = 200 };

#define SCTP "net.model=packet,net.packet.transport=sctp,net.latency=10us,"

static void test_open(void)
{
    uint64_t cookie;
    vtime first;

    set_up(SCTP "net.bandwidth=1Gbps,net.hop_latency=100us", 2);
    submit(0, 1, 900, 0, PROGRAM, 5);
    submit(0, 1, 900, 100 * VTIME_MS, PROGRAM, 6);
    submit(1, 0, 900, 200 * VTIME_MS, PROGRAM, 0);
    advance_all();
    is_next(0, 0, 5, "the sender continues at once");
    is_next(0, 100 * VTIME_MS, 6, "and again");
    first = take(1, &cookie);
    ok(first > 310 * VTIME_US && first < 400 * VTIME_US,
       "the first message opens the association: a round trip, and its own way: %lld",
       (long long)first);
    first = take(1, &cookie) - 100 * VTIME_MS;
    ok(first > 110 * VTIME_US && first < 150 * VTIME_US, "the second uses it");
    first = take(0, &cookie) - 200 * VTIME_MS;
    ok(first > 110 * VTIME_US && first < 150 * VTIME_US, "and so does the other side");
    is_int((long long)traffic().counts[NET_CONNECTIONS], 1, "it is one association");
    tear_down();
}

/* Both open it at the same time. */
static void test_both_open(void)
{
    uint64_t cookie;

    set_up(SCTP "net.bandwidth=1Gbps,net.hop_latency=100us", 2);
    for (int i = 0; i < 10; i++) {
        submit(0, 1, 900, 0, PROGRAM, 0);
        submit(1, 0, 100000, 0, PROGRAM, 0);
    }
    advance_all();
    for (int i = 0; i < 10; i++)
        ok(take(0, &cookie) > 0 && take(1, &cookie) > 0, "message %d of both", i);
    is_int((long long)traffic().counts[NET_RETRANSMITTED], 0, "nothing is sent again");
    tear_down();
}

/* Of 1538 bytes on the link 1452 are the program's, and the last packet of a message is short. */
static void test_goodput(void)
{
    vtime last[2];
    double share;

    set_up(SCTP "net.bandwidth=1Gbps,net.hop_latency=500us", 2);
    share = 3000 * 65536.0 * 8 / vtime_to_seconds(transfer(1, 3000, last)) / 0.943e9;
    ok(share > 0.99 && share <= 1.002, "%.4f of the possible goodput", share);
    is_int((long long)traffic().counts[NET_RETRANSMITTED], 0, "nothing is sent again");
    tear_down();
}

/* ---- full buffers, small messages ---- */

/* Four messages fit into the buffer: the sender of the fifth waits until the first is acknowledged.
 * */
static void test_held_back(void)
{
    uint64_t cookie;
    vtime came, went;

    set_up(SCTP "net.bandwidth=1Gbps,net.hop_latency=1ms,net.packet.send_buffer=40000,"
                "net.packet.delayed_ack=0",
           2);
    for (uint64_t i = 1; i <= 5; i++)
        submit(0, 1, 9960, 0, PROGRAM, i);
    advance_all();
    for (uint64_t i = 1; i <= 4; i++)
        is_next(0, 0, i, "it fits");
    went = take(0, &cookie);
    came = take(1, &cookie);
    is_int((long long)cookie, 0, "the first message");
    ok(went > came && went < came + 2 * VTIME_MS,
       "the fifth is taken when the first has come and this is known: %lld, %lld", (long long)came,
       (long long)went);
    for (int i = 0; i < 4; i++)
        ok(take(1, &cookie) >= came, "the next message");
    tear_down();
    set_up(SCTP "net.bandwidth=1Gbps,net.packet.send_buffer=40000,net.packet.receive_buffer=20000",
           2);
    submit(0, 1, 10000000, 0, PROGRAM, 1);
    advance_all();
    went = take(0, &cookie);
    ok(went > 75 * VTIME_MS && went < 150 * VTIME_MS, "a message much longer than both: %lld",
       (long long)went);
    ok(take(1, &cookie) > went, "it comes as a whole");
    tear_down();
}

/* Buffers that become smaller or larger while an association is in use. */
static void test_changed(void)
{
    static const char *const to[] = {"20000", "1MiB"};
    uint64_t cookie;

    for (int i = 0; i < 2; i++) {
        char settings[600];

        snprintf(settings, sizeof settings,
                 SCTP
                 "net.bandwidth=1Gbps,net.packet.send_buffer=100000,net.packet.connections[+].from=0,"
                 "net.packet.connections[-1].to=1,net.packet.connections[-1].send_buffer=%s,"
                 "net.packet.connections[-1].at=10ms",
                 to[i]);
        set_up(settings, 2);
        for (int k = 0; k < 100; k++)
            submit(0, 1, 50000, 0, PROGRAM, 0);
        advance_all();
        for (int k = 0; k < 100; k++)
            ok(take(1, &cookie) > 0, "message %d", k);
        tear_down();
    }
}

/* The second of two small messages waits for the acknowledgement of the first. */
static void test_nagle(void)
{
    static const char *const nagle[] =
        {SCTP "net.bandwidth=1Gbps,net.hop_latency=1ms,net.packet.delayed_ack=0",
         SCTP
         "net.bandwidth=1Gbps,net.hop_latency=1ms,net.packet.delayed_ack=0,net.packet.nagle=true",
         SCTP "net.bandwidth=1Gbps,net.hop_latency=1ms,net.packet.delayed_ack=0,"
              "net.packet.connections[+].from=0,net.packet.connections[-1].to=1,"
              "net.packet.connections[-1].nagle=true"};
    uint64_t cookie;

    for (int i = 0; i < 3; i++) {
        vtime first, second;

        set_up(nagle[i], 3);
        submit(0, 1, 0, 0, PROGRAM, 0);
        submit(0, 1, 0, VTIME_S, PROGRAM, 0);
        submit(0, 1, 0, VTIME_S + VTIME_US, PROGRAM, 0);
        advance_all();
        take(1, &cookie);
        first = take(1, &cookie);
        second = take(1, &cookie);
        ok(i ? second > first + 2 * VTIME_MS : second < first + VTIME_MS, "%s: %lld ps", nagle[i],
           (long long)(second - first));
        tear_down();
    }
}

/* A message whose only packet is lost is sent again after the least time for that, or twice that.
 * */
static void test_min_rto(void)
{
    static const char *const set[] = {"net.packet.min_rto=200ms", "net.packet.min_rto=50ms"};
    uint64_t cookie;

    for (int i = 0; i < 2; i++) {
        vtime least = (i ? 50 : 200) * VTIME_MS;
        char settings[400];
        int late = 0, wrong = 0;

        snprintf(settings, sizeof settings,
                 SCTP "net.bandwidth=1Gbps,net.packet.error_rate=0.1,net.packet.delayed_ack=0,%s",
                 set[i]);
        set_up(settings, 2);
        for (int k = 0; k < 50; k++)
            submit(0, 1, 100, k * 10 * VTIME_S, PROGRAM, 0);
        advance_all();
        for (int k = 0; k < 50; k++) {
            vtime took = take(1, &cookie) - k * 10 * VTIME_S;

            late += took > least && took < least + VTIME_MS;
            wrong += k > 0 && took > VTIME_MS && took < least;
        }
        ok(late > 0 && wrong == 0, "%s: %d messages came late", set[i], late);
        tear_down();
    }
}

/* A larger window at the beginning saves round trips: all is sent when the association is open. */
static void test_initial_window(void)
{
    uint64_t cookie;
    vtime t[2];

    for (int i = 0; i < 2; i++) {
        set_up(i ? SCTP "net.bandwidth=1Gbps,net.hop_latency=10ms,net.packet.initial_window=32"
                 : SCTP "net.bandwidth=1Gbps,net.hop_latency=10ms,net.packet.initial_window=2",
               2);
        submit(0, 1, 30 * 1452 - 40, 0, PROGRAM, 0);
        advance_all();
        t[i] = take(1, &cookie);
        tear_down();
    }
    ok(t[1] < 51 * VTIME_MS && t[0] > t[1] + 50 * VTIME_MS, "%lld and %lld", (long long)t[0],
       (long long)t[1]);
}

/* ---- several senders, losses, marks ---- */

static void test_fairness(void)
{
    shares_fairly(SCTP "net.bandwidth=1Gbps,net.hop_latency=250us,net.packet.queue=128KiB,"
                       "net.packet.min_rto=10ms");
}

static void test_loss(void)
{
    static const char *const rates[] = {"0.01", "0.05"};

    for (int i = 0; i < 2; i++) {
        char settings[400];

        snprintf(settings, sizeof settings,
                 SCTP "net.bandwidth=1Gbps,net.hop_latency=50us,net.packet.error_rate=%s,"
                      "net.packet.min_rto=10ms",
                 rates[i]);
        survives_loss(settings);
    }
}

static void test_ecn(void)
{
    heeds_marks(SCTP "net.packet.fabric=ecn,net.bandwidth=10Gbps,net.hop_latency=5us,"
                     "net.packet.mark_above=64KiB,net.packet.queue=512KiB");
}

/* Messages of two kinds in turn, on a link that loses packets: how often one came before another
 * that was sent before it, of the same kind and of the other. */
static void count_overtaken(const char *streams, int *same, int *other)
{
    static uint64_t number[MESSAGES];
    char settings[400];
    uint64_t last[2] = {0};

    snprintf(settings, sizeof settings,
             SCTP "net.bandwidth=1Gbps,net.hop_latency=50us,net.packet.error_rate=0.03,"
                  "net.packet.min_rto=10ms,%s",
             streams);
    set_up(settings, 2);
    *same = *other = 0;
    for (uint64_t i = 0; i < MESSAGES; i++) {
        struct note *n = (struct note *)engine_msg_alloc(&engine, sizeof *n);

        n->em.src = 0;
        n->em.dst = 1;
        n->em.arrival = 0;
        n->cookie = i; /* its number */
        medium.submit(medium.owner, &n->em,
                      &(struct engine_call){.load = 5000, .order = PROGRAM, .tie = 1 + i % 2});
    }
    advance_all();
    for (uint64_t i = 0; i < MESSAGES; i++) {
        ok(take(1, &number[i]) > 0, "message %llu", (unsigned long long)i);
        *same += number[i] < last[number[i] % 2];
        *other += number[i] < last[!(number[i] % 2)];
        last[number[i] % 2] = number[i];
    }
    tear_down();
}

static void test_streams(void)
{
    int same, other;

    count_overtaken("net.packet.streams=one", &same, &other);
    ok(same == 0 && other == 0, "one stream: all in order");
    count_overtaken("net.packet.streams=tag,net.packet.stream_count=3", &same, &other);
    ok(same == 0 && other > 0, "two streams: %d overtake those of the other stream", other);
}

/* All open associations at the same time. */
static void test_all_pairs(void)
{
    uint64_t pairs = exchange_all(SCTP "net.topology.kind=fat-tree,net.topology.down=8x8");
    const struct packet_net *n = net.state;
    uint64_t bytes = ((const struct sctp_state *)n->transport_state)->memory.bytes / pairs;
    uint64_t network = pool_live(&n->pool) / pairs;

    ok(bytes + network < 12288, "%llu + %llu bytes for an association", (unsigned long long)bytes,
       (unsigned long long)network);
    tear_down();
}

/* More ranks at a node than one address has ports would have the next address. */
static void test_ports(void)
{
    struct sctp_end *end;
    uint64_t cookie;

    set_up(SCTP "nodes.ranks=4", 64);
    for (uint32_t r = 4; r < 64; r++)
        submit(r, r % 4, 64, 0, PROGRAM, 0);
    advance_all();
    for (uint32_t r = 4; r < 64; r++)
        ok(take(r % 4, &cookie) > 0, "from %u", r);
    end = (struct sctp_end *)packet_stream_find(net.state, 4, 0);
    is_int(end->endpoint->port, 8 << 8, "a port is made from the number of its rank");
    tear_down();
}

/* An association has packets of the least MTU of its route, here in one direction. */
static void test_mtu(void)
{
    uint64_t bytes[2] = {0, 0}, packets[2] = {0, 0}, cookie;
    const struct packet_net *n;

    set_up(SCTP "net.links[+].from=s0,net.links[-1].to=n1,net.links[-1].both=false,"
                "net.links[-1].mtu=800",
           3);
    n = net.state;
    for (uint32_t r = 1; r < 3; r++)
        submit(0, r, 500000, 0, PROGRAM, 0);
    advance_all();
    for (uint32_t r = 1; r < 3; r++)
        ok(take(r, &cookie) > 0, "a message to %u", r);
    for (uint32_t i = 0; i < n->port_count; i++)
        if (n->ports[i]->is_last && n->ports[i]->to > 0) {
            bytes[n->ports[i]->to - 1] = n->ports[i]->bytes;
            packets[n->ports[i]->to - 1] = n->ports[i]->packets;
        }
    ok(bytes[0] <= packets[0] * (800 + n->framing) && bytes[0] > packets[0] * 780,
       "%llu bytes in %llu packets of at most 800", (unsigned long long)bytes[0],
       (unsigned long long)packets[0]);
    ok(bytes[1] > packets[1] * 1400, "%llu bytes in %llu packets of 1500",
       (unsigned long long)bytes[1], (unsigned long long)packets[1]);
    tear_down();
}

static void test_wrong(void)
{
    static const char *const wrong[][2] = {
        {"net.packet.mtu=500",
         "net.packet.mtu: '500' is too small: transport 'sctp' needs at least 544"},
        {"net.packet.receive_buffer=1000", "net.packet.receive_buffer: '1000' bytes hold"},
        {"net.packet.send_buffer=2GiB", "net.packet.send_buffer: at most 1 GiB"},
        {"net.packet.streams=rank", "net.packet.streams: unknown name 'rank'"},
        {"net.packet.stream_count=1", "net.packet.stream_count: SCTP takes 2 to 65535"},
        {"net.packet.delayed_ack=1s", "net.packet.delayed_ack: at most 500 ms"},
        {"net.packet.initial_window=100000", "net.packet.initial_window: at most"},
        {"net.packet.connections[+].from=0,net.packet.connections[-1].to=1,net.packet.connections"
         "[-1].sack=false",
         "net.packet.connections: sack: transport 'sctp' does not use it"},
        {"net.packet.connections[+].from=0,net.packet.connections[-1].to=1,net.packet.connections"
         "[-1].delayed_ack=2s",
         "delayed_ack: at most 500 ms"},
    };

    are_refused("net.model=packet,net.packet.transport=sctp", wrong,
                sizeof wrong / sizeof wrong[0]);
}

int main(void)
{
    test_open();
    test_both_open();
    test_goodput();
    test_held_back();
    test_changed();
    test_nagle();
    test_min_rto();
    test_initial_window();
    test_fairness();
    test_loss();
    test_ecn();
    test_streams();
    test_all_pairs();
    test_ports();
    test_mtu();
    test_wrong();
    return done_testing();
}
