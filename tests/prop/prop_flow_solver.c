/*
 * The flow solver against progressive filling from scratch.
 *
 * Random machines (any routes, one switch, a line, a tree, crowds at few nodes), capacities, limits
 * and sizes; bursts of starts at one time, capacities that change. The oracle has its own flows and
 * computes all rates anew after every change, by definition: raise all rates until a link is full,
 * fix its flows, go on. It follows the solver's times, and checks at every step all rates, that a
 * flow that ends has nothing left, that none is overdue, and when the next one will end. Each case
 * runs twice, and comes out the same.
 */
#include <math.h>
#include <stdlib.h>

#include "base/rng.h"
#include "flow_rate.h"
#include "tap.h"

enum { LINKS = 48, FLOWS = 300, HOPS = 9, KINDS = 5, CASES = 400 };

struct entry {
    int is_active, hops;
    uint32_t route[HOPS];
    double limit, left, rate;
    double pace; /* the rate before, while time last passed */
    struct flow *flow;
};

static struct rng rng;
static double capacities[LINKS];
static struct entry entries[FLOWS];
static uint32_t links, started, active, last;
static int kind, has_ties, has_extremes, faults;
static vtime now, last_time;
static uint64_t hash, last_solves;
static struct flow_solver *s;

static void fault(const char *what, double got, double want)
{
    if (faults++ < 5)
        diag("%s at %lld: %.17g, expected %.17g", what, (long long)now, got, want);
}

static double capacity(void *owner, uint32_t link)
{
    (void)owner;
    return capacities[link];
}

static double random_capacity(void)
{
    if (has_extremes && rng_below(&rng, 12) == 0)
        return rng_below(&rng, 2) ? 0 : INFINITY;
    if (has_ties)
        return 0.01 * (double)(1 + rng_below(&rng, 2));
    return 0.001 + 0.02 * rng_double(&rng);
}

/* ---- the oracle ---- */

static double share(uint32_t link, const int *fixed)
{
    double rest = capacities[link];
    int open = 0;

    for (uint32_t i = 0; i < started; i++) {
        for (int h = 0; entries[i].is_active && h < entries[i].hops; h++) {
            if (entries[i].route[h] != link)
                continue;
            if (fixed[i])
                rest -= entries[i].rate;
            else
                open++;
        }
    }
    return open == 0 ? INFINITY : rest > 0 ? rest / open : 0;
}

static int crosses(const struct entry *e, uint32_t link)
{
    for (int h = 0; h < e->hops; h++) {
        if (e->route[h] == link)
            return 1;
    }
    return 0;
}

/* Fixes the flows that stop first; 0 if none is left. */
static int fill_once(int *fixed)
{
    double level = INFINITY, shares[LINKS];
    int more = 0;

    for (uint32_t l = 0; l < links; l++) {
        shares[l] = share(l, fixed);
        level = fmin(level, shares[l]);
    }
    for (uint32_t i = 0; i < started; i++) {
        if (entries[i].is_active && !fixed[i])
            level = fmin(level, entries[i].limit);
    }
    for (uint32_t i = 0; i < started; i++) {
        struct entry *e = &entries[i];
        int stops = level == INFINITY || e->limit <= level;

        for (uint32_t l = 0; l < links && !stops; l++)
            stops = shares[l] <= level * (1 + 1e-14) && crosses(e, l);
        if (!e->is_active || fixed[i] || !stops)
            continue;
        e->rate = level;
        fixed[i] = more = 1;
    }
    return more;
}

static void oracle_rates(void)
{
    int fixed[FLOWS] = {0};

    while (fill_once(fixed))
        continue;
}

/* What rounding to picoseconds may have made of the bytes left. */
static double slip(const struct entry *e)
{
    return fmax(e->rate, e->pace) * (1 + 1e-9 * (double)now);
}

static void oracle_advance(vtime t)
{
    vtime passed = t - now;

    now = t;
    for (uint32_t i = 0; i < started; i++) {
        struct entry *e = &entries[i];

        if (!e->is_active || passed == 0)
            continue;
        e->left -= e->rate * (double)passed;
        e->pace = e->rate;
        if (e->left < -slip(e))
            fault("a flow is overdue, bytes left", e->left, 0);
    }
}

static double oracle_next(void)
{
    double next = INFINITY;

    for (uint32_t i = 0; i < started; i++) {
        if (entries[i].is_active && entries[i].rate > 0)
            next = fmin(next, fmax((double)now, (double)now + entries[i].left / entries[i].rate));
    }
    return next;
}

/* ---- both together ---- */

static void compare(void)
{
    vtime next = flow_next(s);
    double want;

    oracle_rates();
    if (next == now)
        return; /* flows that end now count until they are taken */
    want = oracle_next();
    if (next == VTIME_NEVER ? want != INFINITY
                            : !(fabs((double)next - want) <= 1 + 1e-9 * (double)next))
        fault("the next end", (double)next, want);
    for (uint32_t i = 0; i < started; i++) {
        const struct entry *e = &entries[i];

        if (e->is_active && !(fabs(flow_rate(s, e->flow) - e->rate) <= 1e-9 * e->rate))
            fault("a rate", flow_rate(s, e->flow), e->rate);
    }
}

static void take(void)
{
    vtime t;
    void *user;
    int has = flow_take(s, &t, &user);
    uint32_t i = (uint32_t)(uintptr_t)user;

    if (!has || t < now) {
        fault("no end, or one in the past", (double)t, (double)now);
        return;
    }
    oracle_advance(t);
    if (!entries[i].is_active || fabs(entries[i].left) > slip(&entries[i]))
        fault("a flow ends, bytes left", entries[i].left, 0);
    if (t == last_time && last_solves == s->count.solves && i < last)
        fault("ends in wrong order", i, last);
    last_time = t;
    last_solves = s->count.solves;
    last = i;
    entries[i].is_active = 0;
    active--;
    hash = (hash ^ (uint64_t)t ^ i) * 0x100000001b3u;
}

/* Links of a switch: node n has n and n + links / 2; of a tree: heap order. */
static int random_route(uint32_t *route)
{
    uint32_t half = links / 2;
    uint32_t from = (uint32_t)rng_below(&rng, half), to = (uint32_t)rng_below(&rng, half);
    int n = 0;

    switch (kind) {
    case 0:
        n = (int)rng_below(&rng, 6) + 1;
        for (int h = 0; h < n; h++)
            route[h] = (uint32_t)rng_below(&rng, links);
        break;
    case 1:
        route[n++] = from;
        route[n++] = half + to;
        break;
    case 2:
        for (uint32_t l = from; l < links && n < HOPS - 1 && (l <= to || n == 0); l++)
            route[n++] = l;
        break;
    case 3:
        route[n++] = from;
        if (to % 3 == 0)
            route[n++] = half + from % 4;
        route[n++] = half + to % 2;
        break;
    default:
        for (uint32_t l = half + from; l > 0 && n < HOPS / 2; l /= 2)
            route[n++] = l % links;
        for (uint32_t l = to; l > 0 && n < HOPS - 1; l /= 3)
            route[n++] = l;
    }
    return n;
}

static int has_no_limit(const struct entry *e)
{
    double least = e->limit;

    for (int h = 0; h < e->hops; h++)
        least = fmin(least, capacities[e->route[h]]);
    return least == INFINITY;
}

static void start(void)
{
    uint32_t i = started++;
    struct entry *e = &entries[i];
    uint64_t bytes = has_ties ? 1000 * (1 + rng_below(&rng, 3)) : 1 + rng_below(&rng, 1000000);

    if (has_extremes && rng_below(&rng, 30) == 0)
        bytes = 0;
    e->is_active = 1;
    e->hops = random_route(e->route);
    e->limit = rng_below(&rng, 5) ? INFINITY : 0.0001 + 0.01 * rng_double(&rng);
    e->left = has_no_limit(e) ? 0 : (double)bytes; /* over, whatever else changes now */
    e->rate = e->pace = 0;
    e->flow = flow_start(s, now, e->route, (unsigned)e->hops, bytes, e->limit,
                         (void *)(uintptr_t)i);
    active++;
}

static void change(uint32_t link, double to)
{
    capacities[link] = to;
    flow_capacity(s, now, link, to);
}

/* Takes all ends up to time t, not all of those at t. */
static void run_until(vtime t)
{
    compare();
    while (flow_next(s) < t) {
        take();
        if (flow_next(s) != now)
            compare();
    }
    if (t != VTIME_NEVER)
        oracle_advance(t);
}

static void run_case(uint64_t seed)
{
    uint32_t total;

    rng_seed(&rng, seed);
    kind = (int)(seed % KINDS);
    has_ties = seed / KINDS % 2;
    has_extremes = seed / KINDS / 2 % 4 == 0;
    links = 4 + (uint32_t)rng_below(&rng, LINKS - 3);
    total = 1 + (uint32_t)rng_below(&rng, rng_below(&rng, 10) ? 60 : FLOWS);
    started = active = 0;
    now = 0;
    last_time = -1;
    for (uint32_t l = 0; l < links; l++)
        capacities[l] = random_capacity();
    s = flow_solver_create(capacity, NULL);
    while (started < total) {
        uint32_t burst = rng_below(&rng, 3) ? 1 : 1 + (uint32_t)rng_below(&rng, 40);

        for (; burst > 0 && started < total; burst--)
            start();
        if (rng_below(&rng, 6) == 0)
            change((uint32_t)rng_below(&rng, links), random_capacity());
        if (has_ties)
            run_until(now + 100000 * (vtime)rng_below(&rng, 8));
        else
            run_until(now + (vtime)rng_below(&rng, 100000000));
    }
    for (uint32_t l = 0; l < links; l++)
        change(l, capacities[l] > 0 ? capacities[l] : 0.01);
    run_until(VTIME_NEVER);
    if (active != 0 || s->count.active != 0 || s->count.in_use != 0)
        fault("flows are left", active, 0);
    flow_solver_destroy(s);
}

int main(void)
{
    plan_auto();
    for (uint64_t group = 0; group < KINDS; group++) {
        int different = 0;

        faults = 0;
        for (uint64_t seed = group; seed < CASES; seed += KINDS) {
            uint64_t first;

            hash = 0;
            run_case(seed);
            first = hash;
            hash = 0;
            run_case(seed);
            different += hash != first;
            if (faults > 0) {
                diag("seed %llu", (unsigned long long)seed);
                break;
            }
        }
        is_int(faults, 0, "rates and ends are those of the oracle");
        is_int(different, 0, "the same calls, the same ends");
    }
    return done_testing();
}
