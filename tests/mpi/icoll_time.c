/* test: n=2,5,16 native=4 measured=no run="--set net.latency=100us,net.bandwidth=inf"
 * When non-blocking collectives complete: they start with the call and continue whatever the
 * program does, so computing in between hides them. Closed forms, in multiples of the latency. */
#include "aligned.h"

#define LATENCY 100e-6
#define NEAR 2e-6 /* tests and clock readings cost a little */

static int rank, size, rounds;

static void expect_since_origin(double seconds)
{
    expect_within(NEAR, "a collective", seconds);
}

static void barrier_alone(void)
{
    MPI_Request request;

    align();
    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    expect_since_origin(0);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    expect_since_origin(rounds * LATENCY);
}

static void barrier_hidden(void)
{
    MPI_Request request;

    align();
    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    check_spend(0.004);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    expect_since_origin(0.004);
}

/* Part of it is hidden. */
static void barrier_half(void)
{
    MPI_Request request;

    align();
    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    check_spend(LATENCY / 2);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    expect_since_origin(rounds * LATENCY);
}

/* Every rank starts at another time, and computes for longer than it takes all to start. */
static void staggered(void)
{
    MPI_Request request;
    int sum = -1;

    align();
    check_spend(rank * 0.0002);
    MPI_Iallreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
    check_spend(0.006);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(sum == size * (size - 1) / 2);
    expect_since_origin(rank * 0.0002 + 0.006);
}

/* Two run side by side and take as long as one. */
static void together(void)
{
    MPI_Request requests[2];
    int sum;

    align();
    MPI_Ibarrier(MPI_COMM_WORLD, &requests[0]);
    MPI_Ibarrier(MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    expect_since_origin(rounds * LATENCY);
    align();
    MPI_Ibarrier(MPI_COMM_WORLD, &requests[0]); /* and a blocking one beside it */
    MPI_Exscan(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    expect_since_origin(rounds * LATENCY);
}

/* A rank that only tests finds it complete when it is. */
static void polled(void)
{
    MPI_Request request;
    int flag = 0;

    align();
    if (rank == 1)
        check_spend(0.003);
    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    while (!flag)
        MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
    if (size == 2)
        expect_since_origin(rank == 1 ? 0.003 : 0.003 + LATENCY);
}

/* Rank 2 passes a broadcast on to rank 3 while it computes: the network interface does it. */
static void passed_on(void)
{
    MPI_Request request;
    int data = rank == 0 ? 42 : -1;

    align();
    MPI_Ibcast(&data, 1, MPI_INT, 0, MPI_COMM_WORLD, &request);
    if (rank == 2)
        check_spend(0.008);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(data == 42);
    if (rank == 2)
        expect_since_origin(0.008);
    if (rank == 3)
        expect_since_origin(2 * LATENCY);
}

/* A persistent one starts when it is started. */
static void persistent(void)
{
    MPI_Request request;

    MPI_Barrier_init(MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    for (int i = 0; i < 2; i++) {
        align();
        MPI_Start(&request);
        check_spend(i ? 0.004 : 0);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        expect_since_origin(i ? 0.004 : rounds * LATENCY);
    }
    MPI_Request_free(&request);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    while (1 << rounds < size)
        rounds++;
    barrier_alone();
    barrier_hidden();
    barrier_half();
    staggered();
    together();
    polled();
    passed_on();
    persistent();
    if (rank == 0)
        printf("ok\n");
    MPI_Finalize();
    return 0;
}
