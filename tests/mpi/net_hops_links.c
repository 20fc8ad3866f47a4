/* test: n=2,6 native=2 measured=no schedules=5 run="--set net.model=hops,net.latency=10us,net.bandwidth=8Gbps,net.hop_latency=100ns,net.topology.kind=torus,net.topology.dims=6,mpi.clock_cost=1ps --set net.links[+].from=s1,net.links[-1].to=s2,net.links[-1].bandwidth_factor=0.5,net.links[-1].latency=1us --set net.links[+].from=s2,net.links[-1].to=s3,net.links[-1].bandwidth_factor=0,net.links[-1].at=35ms"
 * The hops model with links that differ, on a ring of six routers: the narrowest link of the route
 * counts, and a route around one that is down from a time on. */
#include "timing.h"

enum { PART = 10000 };

/* All send `by` further; times of those that pass s1 - s2 or would pass s2 - s3 differ. */
static void test_shift(int by, int down)
{
    int from = (rank + size - by) % size, slow = 0, lost = 0, hops;
    double latency;

    together();
    shift(PART, (rank + by) % size, from);
    for (int i = 0; i < by; i++) {
        slow |= (from + i) % size == 1;
        lost |= down && (from + i) % size == 2;
    }
    hops = lost ? size - by : by;
    slow = lost ? !slow : slow; /* the route in the other direction passes what this one does not */
    latency = 10 * US + (hops + 1) * 100 * NS + (slow ? 0.9 * US : 0);
    took(down ? "with a link down" : "with a slow link", latency + PART * NS * (slow ? 2 : 1));
}

int main(int argc, char **argv)
{
    timing_init(&argc, &argv);
    if (size == 6) {
        test_shift(1, 0); /* 10 ms */
        test_shift(2, 0);
        test_shift(1, 0);
        test_shift(1, 1); /* 40 ms */
        test_shift(2, 1);
    }
    timing_finish();
    return 0;
}
