/* test: n=2,16 native=2 measured=no schedules=5 run="--set net.model=flow,net.latency=10us,net.bandwidth=8Gbps,net.hop_latency=100ns,net.topology.kind=fat-tree,net.topology.down=4x4,net.topology.up=1x2,mpi.clock_cost=1ps"
 * The flow model on fat trees of two levels, where four nodes have two cables up: those that go to
 * the same parent share. Routes are chosen by the destination's number (d-mod-k): even and odd. */
#include "timing.h"

enum { PART = 10000 };

#define NEAR (10 * US + 100 * NS)
#define FAR (10 * US + 300 * NS)

/* Each to the same position below the next switch: two messages at each of the two cables. */
static void test_shift(void)
{
    together();
    shift(PART, (rank + 4) % 16, (rank + 12) % 16);
    took("balanced", FAR + 2 * PART * NS);
}

/* Only to even nodes: all four at one of the cables, and two at each link to a node. */
static void test_even(void)
{
    int to = (rank + 4) % 16 / 2 * 2, from = (rank + 12) % 16;

    together();
    if (rank % 2) {
        send(PART, to);
        return;
    }
    MPI_Sendrecv(buffer, PART, MPI_CHAR, to, 0, buffer + PART, PART, MPI_CHAR, from, 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Recv(buffer, PART, MPI_CHAR, from + 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    took("all at one cable", FAR + 4 * PART * NS);
}

/* Below one switch there is no contention; what comes from above takes the rest of a node's
 * link. */
static void test_local(void)
{
    together();
    if (rank == 1 || rank == 4 || rank == 5) {
        send(PART, 0);
    } else if (rank == 6) {
        send(PART, 2);
    } else if (rank == 0) {
        receive(PART, 1);
        took("from the same switch", NEAR + 3 * PART * NS);
        receive(PART, 4);
        receive(PART, 5);
        took("from another switch", FAR + 3 * PART * NS);
    } else if (rank == 2) { /* 0 has a third each: a third of the cable is left, until they end */
        receive(PART, 6);
        took("beside them", FAR + 3 * PART * NS);
    }
}

int main(int argc, char **argv)
{
    timing_init(&argc, &argv);
    if (size == 16) {
        test_shift();
        test_even();
        test_local();
    }
    timing_finish();
    return 0;
}
