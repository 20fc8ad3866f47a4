/*
 * LogGOPS under random traffic against a naive model of its adapters: all messages of an adapter
 * are sorted, and each takes its turn. What a run submits in pieces, in another order, and partly
 * by the short cut of programs that send alone, must come to the same times.
 */
#include <stdlib.h>

#include "base/rng.h"
#include "net_medium.h"

enum { CASES = 200, MESSAGES = 120, MOST = 12 };

static struct rng rng;

static uint64_t below(uint64_t n)
{
    return rng_below(&rng, n);
}

struct traffic {
    uint32_t id, src, dst;
    uint64_t bytes, order, tie, cookie;
    vtime t, leaves, arrives, left; /* left: its last byte */
    int submitted;
};

static struct traffic all[MESSAGES];
static vtime gap;

/* ---- the naive model ---- */

static int within(const struct traffic *m)
{
    return net_node(&net, m->src) == net_node(&net, m->dst);
}

/* Ranks are negative, nodes positive: two kinds of adapters. */
static int64_t adapter(const struct traffic *m, uint32_t rank)
{
    return within(m) ? -1 - (int64_t)rank : (int64_t)net_node(&net, rank);
}

static vtime takes(const struct traffic *m)
{
    return (vtime)m->bytes * (within(m) ? 100 : 1000);
}

static int before_leaving(const void *a, const void *b)
{
    const struct traffic *x = *(struct traffic *const *)a, *y = *(struct traffic *const *)b;

    if (x->t != y->t)
        return x->t < y->t ? -1 : 1;
    if (x->src != y->src)
        return x->src < y->src ? -1 : 1;
    if (x->order != y->order)
        return !y->order || (x->order && x->order < y->order) ? -1 : 1;
    if (!x->order && x->dst != y->dst)
        return x->dst < y->dst ? -1 : 1;
    if (!x->order && x->tie != y->tie)
        return x->tie < y->tie ? -1 : 1;
    return x->id < y->id ? -1 : 1;
}

static struct traffic *by_leaving[MESSAGES];

/* In the order of leaving; of those at the same time, that of the lower adapter, then the one that
 * left earlier in the order of that. Nodes have lower numbers than ranks. */
static int before_reaching(const void *a, const void *b)
{
    struct traffic *const *x = a, *const *y = b;
    int64_t from_x = adapter(*x, (*x)->src), from_y = adapter(*y, (*y)->src);

    if ((*x)->leaves != (*y)->leaves)
        return (*x)->leaves < (*y)->leaves ? -1 : 1;
    if (from_x != from_y)
        return (from_x < 0 ? 1000 - from_x : from_x) < (from_y < 0 ? 1000 - from_y : from_y) ? -1
                                                                                             : 1;
    return before_leaving(a, b);
}

static vtime pass(struct traffic **list, int stage)
{
    vtime free_at[2 * RANKS_MOST] = {0}, last = 0;

    for (uint32_t i = 0; i < MESSAGES; i++) {
        struct traffic *m = list[i];
        int64_t which = adapter(m, stage ? m->dst : m->src);
        vtime *at = &free_at[which < 0 ? RANKS_MOST - 1 - which : which];
        vtime latency = within(m) ? VTIME_US : 5 * VTIME_US;
        vtime from = stage ? m->leaves + latency : m->t;

        if (from < *at)
            from = *at;
        *at = from + takes(m) + (within(m) ? 0 : gap);
        if (stage) {
            m->arrives = from + takes(m);
        } else {
            m->leaves = from;
            m->left = from + takes(m);
        }
        if (*at > last)
            last = *at;
    }
    return last;
}

static void expect(void)
{
    for (uint32_t i = 0; i < MESSAGES; i++)
        by_leaving[i] = &all[i];
    qsort(by_leaving, MESSAGES, sizeof by_leaving[0], before_leaving);
    pass(by_leaving, 0);
    qsort(by_leaving, MESSAGES, sizeof by_leaving[0], before_reaching);
    pass(by_leaving, 1);
}

/* ---- the adapters ---- */

/* A program that sends alone: the rank has no messages but those of its program, some of which may
 * keep no order. */
static int is_alone(const struct traffic *m, uint64_t apart)
{
    return m->order == PROGRAM && !(apart >> m->src & 1);
}

static void hand_in(struct traffic *m, uint64_t apart)
{
    struct note *n = (struct note *)engine_msg_alloc(&engine, sizeof *n);
    struct device device = {net.device, &engine, &net};
    struct device_send how = {.t = m->t,
                              .bytes = m->bytes,
                              .order = m->order,
                              .tie = m->tie,
                              .cookie = m->cookie,
                              .until = m->cookie ? DEVICE_LEFT : DEVICE_TAKEN,
                              .alone = (uint8_t)is_alone(m, apart)};

    n->em.src = m->src;
    n->em.dst = m->dst;
    n->cookie = m->id + 1000;
    m->submitted = 1;
    device_send(&device, &n->em, &how);
}

/* All messages before `end` that have not been handed in, rank by rank, beginning with any. */
static void hand_in_before(vtime end, uint64_t apart)
{
    uint32_t first = (uint32_t)below(ranks);

    for (uint32_t r = 0; r < ranks; r++)
        for (uint32_t i = 0; i < MESSAGES; i++)
            if (all[i].src == (first + r) % ranks && !all[i].submitted && all[i].t < end)
                hand_in(&all[i], apart);
}

static int compare_times(const void *a, const void *b)
{
    const struct traffic *x = a, *y = b;

    return x->t != y->t ? x->t < y->t ? -1 : 1 : 0;
}

static uint64_t invent(void)
{
    uint64_t apart = below(4) ? below(UINT64_C(1) << ranks) : 0;
    vtime span = (vtime)(1 + below(200)) * VTIME_US;
    vtime grain = below(3) ? VTIME_NS : VTIME_US; /* many at the same time */

    for (uint32_t i = 0; i < MESSAGES; i++) {
        uint32_t src = (uint32_t)below(ranks);
        int is_apart = apart >> src & 1, steps = below(is_apart ? 2 : 4) == 0;

        all[i] = (struct traffic){.src = src,
                                  .dst = (src + 1 + (uint32_t)below(ranks - 1)) % ranks,
                                  .bytes = below(3) ? 1 + below(3000) : 1,
                                  .order = !steps     ? PROGRAM
                                           : is_apart ? below(2) * AGENT
                                                      : 0,
                                  .t = (vtime)below((uint64_t)span) / grain * grain};
        if (!all[i].order) {
            all[i].tie = 1 + i;
            all[i].cookie = below(2) * (i + 1);
        }
    }
    qsort(all, MESSAGES, sizeof all[0], compare_times);
    for (uint32_t i = 0; i < MESSAGES; i++)
        all[i].id = i;
    return apart;
}

static uint32_t count_right(void)
{
    uint32_t right = 0;
    uint64_t which;

    for (uint32_t r = 0; r < ranks; r++)
        for (vtime t; (t = take(r, &which)) >= 0;) {
            if (which >= 1000) {
                right += all[which - 1000].dst == r && all[which - 1000].arrives == t;
                continue;
            }
            for (uint32_t i = 0; i < MESSAGES; i++)
                right += all[i].cookie == which && all[i].src == r && all[i].left == t;
        }
    return right;
}

static void run(uint64_t seed)
{
    char settings[256];
    uint32_t notices = 0, right;
    uint64_t apart;

    rng_seed(&rng, seed);
    ranks = 2 + (uint32_t)below(MOST - 1);
    gap = (vtime)below(3) * 700 * VTIME_NS;
    snprintf(settings, sizeof settings,
             "net.model=loggops,net.latency=5us,net.bandwidth=8Gbps,net.intra.latency=1us,"
             "net.intra.bandwidth=80Gbps,net.gap=%lldns,nodes.ranks=%llu",
             (long long)(gap / VTIME_NS), (unsigned long long)(below(2) ? 1 : 1 + below(4)));
    set_up(settings, ranks);
    apart = invent();
    expect();
    for (vtime end = 0; end < VTIME_MS; end += 1 + (vtime)below(30 * VTIME_US)) {
        hand_in_before(end, apart);
        for (vtime t; (t = medium.next(medium.owner)) < end;)
            medium.advance(medium.owner, t, end - 1);
    }
    advance_all();
    for (uint32_t i = 0; i < MESSAGES; i++)
        notices += all[i].cookie != 0;
    right = count_right();
    ok(right == MESSAGES + notices, "seed %llu: %u of %u messages and notices at the right time",
       (unsigned long long)seed, right, MESSAGES + notices);
    tear_down();
}

int main(void)
{
    plan_auto();
    for (uint64_t seed = 1; seed <= CASES; seed++)
        run(seed);
    return done_testing();
}
