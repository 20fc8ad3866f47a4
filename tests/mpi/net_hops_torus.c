/* test: n=2,24,30 native=2 measured=no schedules=5 run="--set net.model=hops,net.latency=10us,net.bandwidth=8Gbps,net.hop_latency=100ns,net.topology.kind=torus,net.topology.dims=5x3x2,mpi.clock_cost=1ps"
 * The hops model on a torus of 5 x 3 x 2: the latency from rank 0 to each other and between all at
 * a distance, in the shorter direction of each dimension. */
#include <stdlib.h>

#include "timing.h"

enum { SMALL = 1000 };

static int ring_distance(int a, int b, int length)
{
    int d = abs(a - b);

    return d < length - d ? d : length - d;
}

/* Every router on the route counts, the first one too. */
static double latency(int a, int b)
{
    int routers = 1 + ring_distance(a % 5, b % 5, 5) + ring_distance(a / 5 % 3, b / 5 % 3, 3) +
                  ring_distance(a / 15, b / 15, 2);

    return 10 * US + routers * 100 * NS;
}

static void test_each(void)
{
    for (int to = 1; to < size; to++) {
        together();
        if (rank == 0) {
            send(SMALL, to);
            receive(0, to);
            took("there and back", 2 * latency(0, to) + SMALL * NS);
        } else if (rank == to) {
            receive(SMALL, 0);
            took("there", latency(0, to) + SMALL * NS);
            send(0, 0);
        }
    }
}

/* All at once: there is no contention. */
static void test_shifts(void)
{
    for (int by = 1; by < size; by++) {
        int from = (rank + size - by) % size;

        together();
        shift(SMALL, (rank + by) % size, from);
        took("shift", latency(from, rank) + SMALL * NS);
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
