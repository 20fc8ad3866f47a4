/*
 * The packet network under random traffic.
 *
 * Lossless: all topologies and routings with buffers for one packet, which would deadlock without
 * virtual channels; everything arrives, and no packet is left. Queues: one port with random
 * arrivals against a naive queue, packet by packet. Each case runs twice, and comes out the same.
 */
#include "net/packet/packet_internal.h"

#include "net_medium.h"
#include "tap.h"

enum { CASES = 120, MESSAGES = 300 };

static struct rng rng;

static uint64_t below(uint64_t n)
{
    return rng_below(&rng, n);
}

/* ---- lossless ---- */

static const char *const topologies[] = {
    "net.topology.kind=switch",
    "net.topology.kind=torus,net.topology.dims=4x4",
    "net.topology.kind=torus,net.topology.dims=16",
    "net.topology.kind=mesh,net.topology.dims=2x8",
    "net.topology.kind=fat-tree,net.topology.down=4x4",
    "net.topology.kind=dragonfly,net.topology.groups=4,net.topology.routers=2,"
    "net.topology.nodes=2,net.topology.global=2",
    "net.topology.kind=hypercube,net.topology.dims=4",
};
static const char *const routings[] = {"minimal", "dmodk", "ecmp", "valiant", "adaptive"};

/* Returns a hash of all arrivals. */
static uint64_t run_lossless(const char *settings, uint64_t seed, const char *what)
{
    struct net_traffic t;
    uint64_t hash = 0, cookie, delivered = 0;

    rng_seed(&rng, seed);
    set_up(settings, 16);
    for (int i = 0; i < MESSAGES; i++) {
        uint32_t src = (uint32_t)below(16), dst = (uint32_t)below(16);

        submit(src, dst == src ? (src + 1) % 16 : dst, below(20000), (vtime)below(200 * VTIME_US),
               PROGRAM, 0);
    }
    advance_all();
    for (uint32_t r = 0; r < 16; r++)
        for (vtime at; (at = take(r, &cookie)) >= 0; delivered++)
            hash = hash * 31 + (uint64_t)at;
    net_traffic(&net, &t);
    if (delivered != MESSAGES || t.counts[NET_PACKETS] != t.counts[NET_DELIVERED])
        ok(0, "%s: %llu of %d messages, %llu of %llu packets", what, (unsigned long long)delivered,
           MESSAGES, (unsigned long long)t.counts[NET_DELIVERED],
           (unsigned long long)t.counts[NET_PACKETS]);
    engine_fini(&engine);
    net_fini(&net);
    platform_fini(&machine);
    return hash;
}

/* With buffers as small as they may be. */
static const char *const fabrics[] = {"credit,net.packet.buffer=1024",
                                      "pfc,net.packet.buffer=4097"};

static void test_lossless(void)
{
    for (size_t k = 0; k < sizeof topologies / sizeof topologies[0]; k++)
        for (size_t r = 0; r < sizeof routings / sizeof routings[0]; r++)
            for (size_t f = 0; f < sizeof fabrics / sizeof fabrics[0]; f++) {
                char settings[600];

                snprintf(settings, sizeof settings,
                         "net.model=packet,net.packet.transport=message,net.packet.fabric=%s,"
                         "net.latency=1us,net.hop_latency=100ns,net.bandwidth=8Gbps,"
                         "net.packet.mtu=1000,net.packet.framing=24,net.routing=%s,%s",
                         fabrics[f], routings[r], topologies[k]);
                uint64_t once = run_lossless(settings, k * 10 + r, settings);
                ok(once == run_lossless(settings, k * 10 + r, settings),
                   "%s, %s, %s: twice the same", fabrics[f], topologies[k], routings[r]);
            }
}

/* ---- a queue ---- */

struct packet_note {
    vtime t, out; /* when it comes to the port; when its last byte has left, -1: dropped */
    uint32_t bytes;
};

static struct packet_note notes[MESSAGES];
static uint32_t seen;

/* By definition: a packet waits for all before it, and is dropped if those that have not begun to
 * leave, and it, are more than the queue holds. */
static void naive(uint32_t count, uint64_t queue)
{
    vtime free_at = 0;

    for (uint32_t i = 0; i < count; i++) {
        uint64_t waiting = 0;

        for (uint32_t k = 0; k < i; k++)
            if (notes[k].out >= 0 && notes[k].out - notes[k].bytes * VTIME_NS > notes[i].t)
                waiting += notes[k].bytes;
        notes[i].out = -1;
        if (notes[i].t < free_at && waiting + notes[i].bytes > queue)
            continue;
        free_at = (notes[i].t > free_at ? notes[i].t : free_at) + notes[i].bytes * VTIME_NS;
        notes[i].out = free_at;
    }
}

struct marked_packet {
    struct packet base;
    uint32_t number;
};

static vtime came[MESSAGES];

static void sink(struct packet_net *n, struct packet *p, vtime now)
{
    came[((struct marked_packet *)p)->number] = now;
    seen++;
    packet_free(n, p);
}

static const struct packet_transport_ops sink_ops = {.name = "sink", .input = sink};

/* Packets are put at the port of switch 0 to node 1 at random times. */
static void run_queue(uint64_t queue)
{
    static struct packet_stream to;
    struct packet_net *n = net.state;
    vtime t = 0;

    n->fabric = &packet_drop_tail_ops;
    n->transport = &sink_ops;
    seen = 0;
    for (uint32_t i = 0; i < MESSAGES; i++) {
        struct packet_route *r = packet_route_new(n, 0, 1, 0);
        struct marked_packet *p;

        t += below(3) ? (vtime)below(1000) * VTIME_NS : 0;
        notes[i] = (struct packet_note){.t = t, .bytes = 1 + (uint32_t)below(1500)};
        for (vtime next; (next = medium.next(medium.owner)) <= t;)
            medium.advance(medium.owner, next, next);
        p = (struct marked_packet *)packet_new(n, &to, r, sizeof *p, notes[i].bytes);
        packet_route_unref(n, r);
        p->number = i;
        p->base.hop = 1;
        came[i] = -1;
        n->fabric->enqueue(n, &p->base, t);
    }
    advance_all();
    naive(MESSAGES, queue);
}

static void test_queue(void)
{
    for (int k = 0; k < CASES; k++) {
        uint64_t queue = 1500 + below(20000);
        char settings[300];
        int wrong = 0, dropped = 0;

        snprintf(settings, sizeof settings,
                 "net.model=packet,net.packet.transport=message,net.packet.fabric=credit,"
                 "net.latency=1us,net.bandwidth=8Gbps,net.packet.framing=0,net.packet.queue=%llu",
                 (unsigned long long)queue);
        set_up(settings, 2);
        run_queue(queue);
        for (int i = 0; i < MESSAGES; i++) {
            wrong += came[i] != notes[i].out;
            dropped += notes[i].out < 0;
        }
        ok(wrong == 0, "queue of %llu: %d dropped, %d wrong", (unsigned long long)queue, dropped,
           wrong);
        engine_fini(&engine);
        net_fini(&net);
        platform_fini(&machine);
    }
}

int main(void)
{
    rng_seed(&rng, 1);
    diag("seed 1");
    test_lossless();
    test_queue();
    return done_testing();
}
