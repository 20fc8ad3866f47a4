/* test: n=2,12,24 native=2 measured=no schedules=5 run="--set net.model=hops,net.latency=10us,net.bandwidth=8Gbps,net.hop_latency=100ns,net.latency_factor=2,net.topology.kind=fat-tree,net.topology.down=2x3x2,net.topology.bandwidth=4Gbps,nodes.ranks=2,net.intra.latency=1us,net.intra.bandwidth=16Gbps,mpi.clock_cost=1ps"
 * The hops model on a fat tree of three levels with two ranks on each of 12 nodes: switches on the
 * way, links between switches of half the bandwidth, and messages within a node. Latencies of the
 * network count twice. */
#include "timing.h"

enum { SMALL = 1000, LARGE = 100000 };

static double latency(int a, int b)
{
    int switches = a / 4 == b / 4 ? 1 : a / 12 == b / 12 ? 3 : 5;

    return a / 2 == b / 2 ? US : 2 * (10 * US + switches * 100 * NS);
}

static double per_byte(int a, int b)
{
    return a / 2 == b / 2 ? 0.5 * NS : a / 4 == b / 4 ? NS : 2 * NS;
}

static void test_each(void)
{
    for (int to = 1; to < size; to++) {
        together();
        if (rank == 0) {
            send(LARGE, to);
        } else if (rank == to) {
            receive(LARGE, 0);
            took("a large message", 3 * latency(0, to) + LARGE * per_byte(0, to));
        }
    }
}

static void test_shifts(void)
{
    for (int by = 1; by < size; by++) {
        int from = (rank + size - by) % size;

        together();
        shift(SMALL, (rank + by) % size, from);
        took("shift", latency(from, rank) + SMALL * per_byte(from, rank));
    }
}

int main(int argc, char **argv)
{
    timing_init(&argc, &argv);
    test_each();
    test_shifts();
    timing_finish();
    return 0;
}
