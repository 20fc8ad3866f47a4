/* test: n=2,3,5 native=2 measured=no run="--set net.model=flow,net.latency=10us,net.bandwidth=8Gbps,mpi.clock_cost=1ps,nodes.ranks=1"
 * The flow model on one switch against closed forms: alone, incast, outcast, a staircase of sizes,
 * both directions at once, and messages that must not overtake. 8 Gbit/s are 1 ns per byte. */
#include "timing.h"

#define LATENCY (10 * US)
#define PER_BYTE 1e-9

enum { SMALL = 1000, EAGER = 10000, LARGE = 1000000 };

static void test_alone(void)
{
    together();
    if (rank == 0) {
        send(SMALL, 1);
        receive(SMALL, 1);
        took("ping-pong", 2 * (LATENCY + SMALL * PER_BYTE));
    } else if (rank == 1) {
        receive(SMALL, 0);
        send(SMALL, 0);
    }
    together();
    if (rank == 0) {
        send(LARGE, 1);
        took("the sender of a large message", 2 * LATENCY + LARGE * PER_BYTE);
    } else if (rank == 1) {
        receive(LARGE, 0);
        took("the receiver of a large message", 3 * LATENCY + LARGE * PER_BYTE);
    }
}

/* All to one: they share its link, and end together. */
static void test_incast(void)
{
    together();
    if (rank)
        send(EAGER, 0);
    for (int from = 1; from < size && rank == 0; from++) {
        receive(EAGER, from);
        took("incast", LATENCY + (size - 1) * EAGER * PER_BYTE);
    }
}

/* One to all. */
static void test_outcast(void)
{
    together();
    for (int to = 1; to < size && rank == 0; to++)
        send(EAGER, to);
    if (rank) {
        receive(EAGER, 0);
        took("outcast", LATENCY + (size - 1) * EAGER * PER_BYTE);
    }
}

/* Rank r sends r parts: while k are left, each has 1/k of the link. */
static void test_staircase(void)
{
    together();
    if (rank)
        send(rank * SMALL, 0);
    for (int from = 1; from < size && rank == 0; from++) {
        double parts = 0;

        for (int i = 1; i <= from; i++)
            parts += size - i;
        receive(from * SMALL, from);
        took("staircase", LATENCY + parts * SMALL * PER_BYTE);
    }
}

/* Links have two directions. */
static void test_ring(void)
{
    together();
    MPI_Sendrecv(buffer, EAGER, MPI_CHAR, (rank + 1) % size, 0, buffer + EAGER, EAGER, MPI_CHAR,
                 (rank + size - 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    took("ring", LATENCY + EAGER * PER_BYTE);
}

/* A late small message does not overtake: it is seen when the large one before it is. */
static void test_order(void)
{
    MPI_Status status;
    int flag = 0;

    together();
    if (rank == 1) {
        MPI_Request large;

        MPI_Isend(buffer, EAGER, MPI_CHAR, 0, 1, MPI_COMM_WORLD, &large);
        MPI_Send(buffer, 0, MPI_CHAR, 0, 2, MPI_COMM_WORLD);
        MPI_Wait(&large, MPI_STATUS_IGNORE);
    } else if (rank == 0) {
        MPI_Recv(buffer, 0, MPI_CHAR, 1, 2, MPI_COMM_WORLD, &status);
        took("the small one", LATENCY + EAGER * PER_BYTE);
        MPI_Iprobe(1, 1, MPI_COMM_WORLD, &flag, &status);
        CHECK(flag || !check_virtual());
        MPI_Recv(buffer, EAGER, MPI_CHAR, 1, 1, MPI_COMM_WORLD, &status);
    }
}

/* Who comes first at a wildcard depends on the sharing: all parts end in order of size. */
static void test_any(void)
{
    MPI_Status status;

    together();
    if (rank)
        MPI_Send(buffer, (size - rank) * SMALL, MPI_CHAR, 0, rank, MPI_COMM_WORLD);
    for (int i = 1; i < size && rank == 0; i++) {
        MPI_Recv(buffer, EAGER, MPI_CHAR, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
        CHECK(!check_virtual() || status.MPI_SOURCE == size - i);
    }
}

int main(int argc, char **argv)
{
    timing_init(&argc, &argv);
    test_alone();
    test_incast();
    test_outcast();
    test_staircase();
    test_ring();
    test_order();
    test_any();
    timing_finish();
    return 0;
}
