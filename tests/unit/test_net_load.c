/*
 * What links carry over time: a solver with a meter against closed forms, against capacities, and
 * against the same solver without one; and the models that have links.
 */
#include <math.h>
#include <string.h>

#include "base/bins.h"
#include "base/rng.h"
#include "bins_row.h"
#include "find_link.h"
#include "net/flow_solver.h"
#include "net/net.h"
#include "net/topology/topology.h"
#include "engine_fini.h"
#include "tap.h"

#define B 0.001 /* bytes per picosecond: 1 GB/s */

static struct err err;

static double capacity(void *owner, uint32_t link)
{
    return ((const double *)owner)[link];
}

static uint64_t sum(const struct bins *b, uint32_t link)
{
    const uint64_t *row = bins_row(b, link);
    uint64_t all = 0;
    for (uint32_t i = 0; row && i < b->used; i++)
        all += row[i];
    return all;
}

static void take_all(struct flow_solver *s)
{
    vtime t;
    void *user;
    while (flow_take(s, &t, &user))
        ;
}

/* Two flows that meet on link 1; the bytes on links 0 and 1 are counted. */
static struct flow_solver *start_two(struct bins *bins)
{
    static double capacities[] = {B, B, B};
    struct flow_solver *s = flow_solver_create(capacity, capacities);
    bins_init(bins, VTIME_US);
    flow_solver_meter(s, bins, 2);
    flow_start(s, 0, (uint32_t[]){0, 1}, 2, 10000, INFINITY, NULL);
    flow_start(s, 2 * VTIME_US + VTIME_US / 2, (uint32_t[]){2, 1}, 2, 2000, INFINITY, NULL);
    return s;
}

/* The first has all of the link, half of it, and all of it again. */
static void test_shared(void)
{
    struct bins bins;
    struct flow_solver *s = start_two(&bins);
    take_all(s);
    const uint64_t *own = bins_row(&bins, 0), *shared = bins_row(&bins, 1);
    ok(own[0] == 1000 && own[1] == 1000 && own[2] == 750, "alone, then half a bin shared");
    ok(own[3] == 500 && own[5] == 500 && own[6] == 750 && own[7] == 1000,
       "half, then all of it again");
    int is_full = 1;
    for (uint32_t i = 0; i < bins.used; i++)
        is_full &= shared[i] == 1000;
    ok(is_full && bins.used == 12, "the shared link is full all the time");
    is_int(sum(&bins, 0), 10000, "the bytes of the first flow");
    is_int(sum(&bins, 1), 12000, "and of both");
    ok(!bins_row(&bins, 2), "a link beyond those asked for is not counted");
    flow_solver_destroy(s);
    bins_fini(&bins);
}

/* The run ends while two messages are in flight. */
static void test_settled(void)
{
    struct bins bins;
    struct flow_solver *s = start_two(&bins);
    flow_settle(s, 4 * VTIME_US);
    is_int(sum(&bins, 0), 3250, "what the first flow has moved until the end");
    is_int(sum(&bins, 1), 4000, "and both");
    is_int(bins.used, 4, "nothing is counted behind the end");
    flow_solver_destroy(s);
    is_int(sum(&bins, 1), 4000, "and nothing twice");
    bins_fini(&bins);
}

enum { LINKS = 12, FLOWS = 600, TURNS = 40 };

struct run {
    struct flow_solver *solver;
    double capacities[LINKS];
    vtime ends[FLOWS];
    uint64_t bytes[LINKS]; /* that flows were given */
};

/* Many flows on few links, whose capacities change: seeded, so that it can be done twice. */
static void run_random(struct run *r, struct bins *bins, uint64_t seed)
{
    struct rng rng;
    vtime t = 0, end;
    void *user;
    rng_seed(&rng, seed);
    for (int i = 0; i < LINKS; i++)
        r->capacities[i] = B * (double)(1 + rng_below(&rng, 4));
    memset(r->bytes, 0, sizeof r->bytes);
    r->solver = flow_solver_create(capacity, r->capacities);
    if (bins)
        flow_solver_meter(r->solver, bins, LINKS);
    for (uintptr_t i = 0; i < FLOWS; i++) {
        uint32_t links[3], first = (uint32_t)rng_below(&rng, LINKS);
        unsigned n = 1 + (unsigned)rng_below(&rng, 3);
        uint64_t size = 1 + rng_below(&rng, (uint64_t)1 << rng_below(&rng, 22));
        t += (vtime)rng_below(&rng, 3) * (vtime)rng_below(&rng, 50 * VTIME_US);
        while (flow_next(r->solver) <= t && flow_take(r->solver, &end, &user))
            r->ends[(uintptr_t)user] = end;
        if (i % (FLOWS / TURNS) == 0) {
            uint32_t link = (uint32_t)rng_below(&rng, LINKS);
            r->capacities[link] = B * (double)rng_below(&rng, 5);
            flow_capacity(r->solver, t, link, r->capacities[link]);
        }
        for (unsigned k = 0; k < n; k++) {
            links[k] = (first + 5 * k) % LINKS;
            r->bytes[links[k]] += size;
        }
        flow_start(r->solver, t, links, n, size, i % 7 ? INFINITY : B / 3, (void *)i);
    }
    for (uint32_t i = 0; i < LINKS; i++)
        flow_capacity(r->solver, t, i, r->capacities[i] = 5 * B);
    while (flow_take(r->solver, &end, &user))
        r->ends[(uintptr_t)user] = end;
    flow_solver_destroy(r->solver);
}

static void test_random(uint64_t seed)
{
    static struct run plain, counted;
    struct bins bins;
    int wrong = 0, over = 0;
    bins_init(&bins, 1000);
    run_random(&plain, NULL, seed);
    run_random(&counted, &bins, seed);
    ok(memcmp(plain.ends, counted.ends, sizeof plain.ends) == 0,
       "seed %d: counting changes nothing", (int)seed);
    for (uint32_t i = 0; i < LINKS; i++) {
        const uint64_t *row = bins_row(&bins, i);
        wrong += sum(&bins, i) != counted.bytes[i];
        for (uint32_t k = 0; row && k < bins.used; k++)
            over += (double)row[k] > 5 * B * (double)bins.width + FLOWS;
    }
    is_int(wrong, 0, "every link carried the bytes of its flows");
    is_int(over, 0, "and never more than it can");
    bins_fini(&bins);
}

/* ---- models ---- */

#define NET "net.latency=1us,net.bandwidth=8Gbps,net.topology.kind=torus,net.topology.dims=4x3"

static struct platform machine;
static struct net net;

static const uint64_t *load_of(const char *from, const char *to)
{
    uint32_t link = 0;
    return find_link(net.topo, from, to, &link, &err) ? NULL : bins_row(net.load, link);
}

static void set_up(const char *settings)
{
    platform_init(&machine);
    is_int(platform_set(&machine, settings, NULL, &err) || net_init(&net, &machine, 12, &err), 0,
           settings);
    net_meter(&net);
}

static void tear_down(void)
{
    net_fini(&net);
    platform_fini(&machine);
    memset(&machine, 0, sizeof machine);
}

static void test_hops(void)
{
    static struct engine_entity entities[12];
    struct engine_config cfg = {.base = entities, .stride = sizeof *entities};
    struct engine engine;
    set_up("net.model=hops," NET);
    rank_map_init(&cfg.map, RANK_MAP_BLOCK, 12, 1, 0, NULL);
    engine_init(&engine, &cfg);
    struct device device = {net.device, &engine, &net};
    for (int i = 0; i < 2; i++) { /* 1000 bytes take a microsecond */
        struct engine_msg *m = engine_msg_alloc(&engine, sizeof *m);
        m->src = 0, m->dst = i ? 6 : 0;
        struct device_sent sent = device_send(&device, m,
                                              &(struct device_send){.t = 2 * VTIME_US,
                                                                    .bytes = 1000});
        if (i)
            ok(sent.arrival >= 4 * VTIME_US, "the message is sent as ever");
    }
    is_int((long long)net.load->rows, 5, "what stays on a node uses no link");
    const uint64_t *first = load_of("n0", "s0"), *last = load_of("s6", "n6");
    uint64_t whole = 0, before = 0;
    for (uint32_t i = 0; i < net.load->used; i++) {
        whole += first[i];
        before += (i + 1) * net.load->width <= 2 * VTIME_US ? first[i] : 0;
    }
    ok(whole == 1000 && before == 0, "the node's link carries it from the time it leaves");
    is_int(net.load->used, (3 * VTIME_US - 1) / (long long)net.load->width + 1,
           "until its last byte has left");
    ok(last && memcmp(first, last, net.load->used * sizeof *first) == 0, "as does the last one");
    for (int i = 0; i < 12; i++)
        for (struct engine_msg *m; (m = engine_poll(&entities[i]));)
            engine_msg_free(&engine, m);
    engine_fini(&engine);
    tear_down();
}

static void test_without(void)
{
    set_up("net.model=constant");
    ok(!net.load, "a model without links counts nothing");
    tear_down();
}

int main(void)
{
    plan_auto();
    test_shared();
    test_settled();
    for (uint64_t seed = 1; seed <= 20; seed++)
        test_random(seed);
    test_hops();
    test_without();
    return done_testing();
}
