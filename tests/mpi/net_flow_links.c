/* test: n=2,4,6 native=2 measured=no schedules=5 run="--set net.model=flow,net.latency=10us,net.bandwidth=8Gbps,net.hop_latency=100ns,net.topology.kind=torus,net.topology.dims=6,mpi.clock_cost=1ps --set net.links[+].from=s1,net.links[-1].to=s2,net.links[-1].bandwidth_factor=0.5,net.links[-1].latency=1us --set net.links[+].from=n0,net.links[-1].to=s0,net.links[-1].bandwidth=4Gbps,net.links[-1].at=35ms,net.links[-1].both=no --set net.links[+].from=s2,net.links[-1].to=s3,net.links[-1].bandwidth_factor=0,net.links[-1].at=45ms --set net.links[+].from=s2,net.links[-1].to=s3,net.links[-1].bandwidth_factor=1,net.links[-1].at=60.03ms"
 * Links that differ, on a ring of six routers: one of half the bandwidth and with another latency,
 * a node's link that becomes slower at a time, one that goes down and comes up again. */
#include "timing.h"

enum { PART = 10000, LARGE = 20000 };

#define HOP (100 * NS)

static double route(int hops)
{
    return 10 * US + (hops + 1) * HOP;
}

/* From one rank to another, alone, if there are that many ranks. */
static void alone(const char *what, int from, int to, double expected)
{
    together();
    if (from >= size || to >= size)
        return;
    if (rank == from)
        send(PART, to);
    if (rank == to) {
        receive(PART, from);
        took(what, expected);
    }
}

/* A message has been in flight for 4 us when its link becomes slower, at 35 ms. */
static void test_change(void)
{
    together(); /* 30 ms */
    check_spend(35e-3 - 4 * US - MPI_Wtime());
    timing_start += 5e-3 - 4 * US;
    if (rank == 0)
        send(PART, 1);
    if (rank == 1) {
        receive(PART, 0);
        took("a link that becomes slower", route(1) + 4 * US + (PART * NS - 4 * US) * 2);
    }
    timing_start -= 5e-3 - 4 * US;
}

/* The link is down: one hop becomes five. */
static void test_down(void)
{
    together(); /* 40 ms */
    together(); /* 50 ms: s2 - s3 is down */
    if (rank == 2 && size == 6)
        send(PART, 3);
    if (rank == 3 && size == 6) {
        receive(PART, 2);
        took("the long route", route(5) + 0.9 * US + 2 * PART * NS);
    }
}

/* Up again while the message is in flight: it keeps its route; the next one takes the short
 * route. */
static void test_up(void)
{
    together(); /* 60 ms */
    if (size < 6)
        return;
    check_spend(rank == 2 ? 25 * US : 0);
    if (rank == 2) {
        send(LARGE, 4);
        check_spend(timing_start + 100 * US - MPI_Wtime());
        send(PART, 4);
    }
    if (rank == 4) {
        receive(LARGE, 2);
        took("begun before it is up", 25 * US + route(4) + 0.9 * US + 2 * LARGE * NS);
        receive(PART, 2);
        took("up again", 100 * US + route(2) + PART * NS);
    }
}

int main(int argc, char **argv)
{
    timing_init(&argc, &argv);
    alone("another link", 0, 1, route(1) + PART * NS); /* 10 ms */
    alone("a slow link", 0, 2, route(2) + 0.9 * US + 2 * PART * NS);
    test_change();
    test_down();
    test_up();
    timing_finish();
    return 0;
}
