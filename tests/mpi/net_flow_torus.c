/* test: n=2,12 native=2 measured=no schedules=5 run="--set net.model=flow,net.latency=10us,net.bandwidth=8Gbps,net.hop_latency=100ns,net.topology.kind=torus,net.topology.dims=12,mpi.clock_cost=1ps"
 * The flow model on a ring of 12 routers: if all send d further, each link between two routers
 * carries d messages; and a message that crosses some of another's links slows it down while both
 * are there. */
#include "timing.h"

enum { PART = 10000 };

static double route(int hops)
{
    return 10 * US + (hops + 1) * 100 * NS;
}

static void test_shifts(void)
{
    for (int by = 1; by < 6; by++) {
        together();
        shift(PART, (rank + by) % size, (rank + size - by) % size);
        took("shift", route(by) + by * PART * NS);
    }
}

/* Both directions at once: links have two directions. */
static void test_both(void)
{
    MPI_Request requests[4];
    int up = (rank + 2) % size, down = (rank + size - 2) % size;

    together();
    MPI_Irecv(buffer, PART, MPI_CHAR, down, 1, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(buffer + PART, PART, MPI_CHAR, up, 2, MPI_COMM_WORLD, &requests[1]);
    MPI_Isend(buffer + 2 * PART, PART, MPI_CHAR, up, 1, MPI_COMM_WORLD, &requests[2]);
    MPI_Isend(buffer + 3 * PART, PART, MPI_CHAR, down, 2, MPI_COMM_WORLD, &requests[3]);
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
    took("both ways", route(2) + 2 * PART * NS);
}

/* 0 -> 3 meets 1 -> 2 and, later, 2 -> 4 on one link each: half the rate while they are there. */
static void test_crossing(void)
{
    together();
    if (rank == 0) {
        send(4 * PART, 3);
    } else if (rank == 1) {
        send(PART, 2);
    } else if (rank == 2) {
        receive(PART, 1);
        took("the short one", route(1) + 2 * PART * NS);
        check_spend(timing_start + route(1) + 3 * PART * NS - MPI_Wtime());
        send(PART / 10, 4);
    } else if (rank == 3) {
        receive(4 * PART, 0);
        took("the long one", route(3) + (4 * PART + PART + PART / 10) * NS);
    } else if (rank == 4) {
        receive(PART / 10, 2);
        took("the late one", route(1) + route(2) + (3 * PART + 2 * PART / 10) * NS);
    }
}

int main(int argc, char **argv)
{
    timing_init(&argc, &argv);
    if (size == 12) {
        test_shifts();
        test_both();
        test_crossing();
    }
    timing_finish();
    return 0;
}
