/*
 * How fast is the flow solver? Flows per second, started and ended, for typical loads.
 *
 *     usage: bench_flow_solver [SECONDS [LOAD]]     per load, 0.5; only loads whose name begins so
 *
 * 1,024 nodes with links of 12.5 GB/s, on one switch or a fat tree of three levels (16 nodes per
 * edge switch, 8 edge switches per pod, routes by destination). Each round of a load runs to its
 * end.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/rng.h"
#include "net/flow_internal.h"

enum { NODES = 1024, EDGE = 16, POD = 128, BYTES = 1 << 20 };

struct planned {
    vtime t;
    uint32_t from, to, bytes, number;
};

static struct rng rng;
static struct planned plan[NODES * 64];
static uint32_t planned;
static struct flow_solver *s;

static double capacity(void *owner, uint32_t link)
{
    (void)owner;
    (void)link;
    return 0.0125;
}

/* ---- machines ---- */

static unsigned switch_route(uint32_t from, uint32_t to, uint32_t *links)
{
    links[0] = from;
    links[1] = NODES + to;
    return 2;
}

/* Level 1: node to edge; 2: edge to one of 16 in the pod; 3: pod to one of 128; the same down. */
static unsigned tree_route(uint32_t from, uint32_t to, uint32_t *links)
{
    unsigned n = 0;

    links[n++] = from;
    if (from / EDGE != to / EDGE) {
        links[n++] = (2u << 20) + from / EDGE * EDGE + to % EDGE;
        if (from / POD != to / POD) {
            links[n++] = (4u << 20) + from / POD * POD + to % POD;
            links[n++] = (5u << 20) + to / POD * POD + to % POD;
        }
        links[n++] = (3u << 20) + to / EDGE * EDGE + to % EDGE;
    }
    links[n++] = (1u << 20) + to;
    return n;
}

/* ---- loads: what starts when, in one round from time 0 ---- */

static void add(vtime t, uint32_t from, uint32_t to, uint32_t bytes)
{
    plan[planned] = (struct planned){t, from, to, bytes, planned};
    planned++;
}

static vtime jitter(vtime most)
{
    return most ? (vtime)rng_below(&rng, (uint64_t)most) : 0;
}

/* 16 x 8 x 8 nodes, six neighbours each; times per node and per flow. */
static void halo(vtime per_node, vtime per_flow)
{
    static const int dims[3] = {16, 8, 8};

    for (int i = 0; i < NODES; i++) {
        int at[3] = {i / 64, i / 8 % 8, i % 8};
        vtime t = jitter(per_node);

        for (int d = 0; d < 6; d++) {
            int to[3] = {at[0], at[1], at[2]};

            to[d / 2] = (to[d / 2] + (d % 2 ? 1 : dims[d / 2] - 1)) % dims[d / 2];
            add(t + jitter(per_flow), (uint32_t)i, (uint32_t)(to[0] * 64 + to[1] * 8 + to[2]),
                BYTES);
        }
    }
}
static void halo_sync(void)
{
    halo(0, 0);
}
static void halo_node(void)
{
    halo(100 * VTIME_US, 0);
}
static void halo_flow(void)
{
    halo(0, 100 * VTIME_US);
}

static void permutation(vtime most)
{
    static uint32_t to[NODES];

    for (uint32_t i = 0; i < NODES; i++)
        to[i] = i;
    for (uint32_t i = NODES - 1; i > 0; i--) {
        uint32_t k = (uint32_t)rng_below(&rng, i + 1), x = to[i];
        to[i] = to[k];
        to[k] = x;
    }
    for (uint32_t i = 0; i < NODES; i++)
        add(jitter(most), i, to[i], BYTES);
}
static void permutation_sync(void)
{
    permutation(0);
}
static void permutation_jitter(void)
{
    permutation(100 * VTIME_US);
}

/* 32 rounds of an all-to-all, all posted at once or in turn. */
static void alltoall(vtime step, vtime most)
{
    for (uint32_t k = 1; k <= 32; k++) {
        for (uint32_t i = 0; i < NODES; i++)
            add(step * k + jitter(most), i, (i + k) % NODES, BYTES / 16);
    }
}
static void alltoall_burst(void)
{
    alltoall(0, 0);
}
static void alltoall_steps(void)
{
    alltoall(6 * VTIME_US, 0);
}
static void alltoall_jitter(void)
{
    alltoall(6 * VTIME_US, 6 * VTIME_US);
}

static void incast(vtime most, uint32_t spread)
{
    for (uint32_t i = 1; i < NODES; i++)
        add(jitter(most), i, 0, BYTES - (uint32_t)jitter(spread));
}
static void incast_sync(void)
{
    incast(0, 0);
}
static void incast_sizes(void)
{
    incast(0, BYTES / 2);
}
static void incast_jitter(void)
{
    incast(10000 * VTIME_US, 0);
}

static void random_pairs(void)
{
    for (uint32_t i = 0; i < 4 * NODES; i++)
        add(jitter(400 * VTIME_US), (uint32_t)rng_below(&rng, NODES),
            (uint32_t)rng_below(&rng, NODES), 1 + (uint32_t)rng_below(&rng, BYTES));
}

static const struct load {
    const char *name;
    void (*plan)(void);
    unsigned (*route)(uint32_t, uint32_t, uint32_t *);
} loads[] = {
    {"halo, fat tree, at once", halo_sync, tree_route},
    {"halo, fat tree, nodes within 100 us", halo_node, tree_route},
    {"halo, fat tree, flows within 100 us", halo_flow, tree_route},
    {"alltoall, switch, all at once", alltoall_burst, switch_route},
    {"alltoall, switch, step by step", alltoall_steps, switch_route},
    {"alltoall, switch, within 6 us", alltoall_jitter, switch_route},
    {"incast, switch, at once", incast_sync, switch_route},
    {"incast, switch, other sizes", incast_sizes, switch_route},
    {"incast, switch, within 10 ms", incast_jitter, switch_route},
    {"permutation, fat tree, at once", permutation_sync, tree_route},
    {"permutation, fat tree, in 100 us", permutation_jitter, tree_route},
    {"random pairs and sizes, fat tree", random_pairs, tree_route},
};

/* ---- measuring ---- */

static int by_time(const void *a, const void *b)
{
    const struct planned *x = a, *y = b;

    if (x->t != y->t)
        return x->t < y->t ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

static double seconds(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
    return (double)ts.tv_sec + 1e-9 * (double)ts.tv_nsec;
}

/* One round from time t on; the time of its end. */
static vtime run_round(const struct load *load, vtime t)
{
    vtime end = t;
    uint32_t links[8];
    void *user;

    for (uint32_t i = 0; i < planned; i++) {
        const struct planned *p = &plan[i];

        if (i == 0 || p->t != plan[i - 1].t) {
            while (flow_next(s) <= t + p->t)
                flow_take(s, &end, &user);
        }
        unsigned n = load->route(p->from, p->to, links);
        flow_start(s, t + p->t, links, n, p->bytes, INFINITY, NULL);
    }
    while (flow_take(s, &end, &user))
        continue;
    return end;
}

static void measure(const struct load *load, double at_least)
{
    const struct flow_counters *count;
    double spent = 0;
    vtime t = 0;

    rng_seed(&rng, 1);
    s = flow_solver_create(capacity, NULL);
    while (spent < at_least) {
        planned = 0;
        load->plan();
        qsort(plan, planned, sizeof *plan, by_time);
        double from = seconds();
        t = run_round(load, t);
        spent += seconds() - from;
    }
    count = &s->count;
    double flows = (double)count->started, solves = (double)count->solves;
    printf("%-36s %10.0f flows/s %9.0f ns/flow; per flow %.2f solves, %.1f links, %.1f rates\n",
           load->name, flows / spent, 1e9 * spent / flows, solves / flows,
           (double)count->links / flows, (double)count->rates / flows);
    flow_solver_destroy(s);
}

int main(int argc, char **argv)
{
    double at_least = argc > 1 ? atof(argv[1]) : 0.5;
    const char *only = argc > 2 ? argv[2] : "";

    for (size_t i = 0; i < sizeof loads / sizeof *loads; i++) {
        if (strncmp(loads[i].name, only, strlen(only)) == 0)
            measure(&loads[i], at_least);
    }
    return 0;
}
