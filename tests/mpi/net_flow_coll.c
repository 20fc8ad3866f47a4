/* test: n=2,4,6,7 native=2 measured=no schedules=5 run="--set net.model=flow,net.latency=10us,net.bandwidth=8Gbps,mpi.clock_cost=1ps"
 * Collectives in the flow model on one switch against closed forms: broadcast along a binomial
 * tree, eager and large, and all to all, at once and in pairs. 8 Gbit/s are 1 ns per byte. */
#include "timing.h"

#define LATENCY (10 * US)
#define PER_BYTE NS

enum { EAGER = 10000, LARGE = 1000000, MOST = 64 };

/* The children of r in a binomial tree with root 0, the farthest first. */
static int children(int r, int *child)
{
    int mask = 1, count = 0;

    while (mask < size && !(r & mask))
        mask <<= 1;
    while ((mask >>= 1))
        if (r + mask < size)
            child[count++] = r + mask;
    return count;
}

/* Eager messages to all children leave at once and share the link. */
static void test_eager_broadcast(void)
{
    double ready[MOST] = {0};
    int child[32];

    for (int r = 0; r < size; r++) {
        int count = children(r, child);

        for (int i = 0; i < count; i++)
            ready[child[i]] = ready[r] + LATENCY + count * EAGER * PER_BYTE;
    }
    together();
    MPI_Bcast(buffer, EAGER, MPI_CHAR, 0, MPI_COMM_WORLD);
    took("eager broadcast", ready[rank]);
}

/* Large ones go one after the other: a round trip, then the data. */
static void test_large_broadcast(void)
{
    double ready[MOST] = {0};
    int child[32];

    for (int r = 0; r < size; r++) {
        int count = children(r, child);

        for (int i = 0; i < count; i++) {
            ready[child[i]] = ready[r] + 3 * LATENCY + LARGE * PER_BYTE;
            ready[r] += 2 * LATENCY + LARGE * PER_BYTE;
        }
    }
    together();
    MPI_Bcast(buffer, LARGE, MPI_CHAR, 0, MPI_COMM_WORLD);
    took("large broadcast", ready[rank]);
}

static void test_alltoall(int block, const char *what, double expected)
{
    char *out = calloc((size_t)size, (size_t)block), *in = calloc((size_t)size, (size_t)block);

    memset(out, rank + 1, (size_t)size * (size_t)block);
    together();
    MPI_Alltoall(out, block, MPI_CHAR, in, block, MPI_CHAR, MPI_COMM_WORLD);
    took(what, expected);
    for (int from = 0; from < size; from++)
        CHECK(in[from * block] == from + 1);
    free(out);
    free(in);
}

int main(int argc, char **argv)
{
    timing_init(&argc, &argv);
    test_eager_broadcast();
    test_large_broadcast();
    test_alltoall(EAGER, "all to all at once", LATENCY + (size - 1) * EAGER * PER_BYTE);
    test_alltoall(100000, "all to all in pairs", (size - 1) * (3 * LATENCY + 100000 * PER_BYTE));
    timing_finish();
    return 0;
}
