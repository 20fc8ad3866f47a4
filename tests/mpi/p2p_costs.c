/* test: n=3 native=3 measured=no run="--set net.latency=100us,net.bandwidth=inf,mpi.send_overhead=1us,mpi.recv_overhead=2us,mpi.unexpected_cost=30us,mpi.unexpected_per_kib=8us,mpi.request_cost=5us,mpi.match_cost=3us,mpi.peer_cost=7us,mpi.clock_cost=1ps"
 * What messages cost beside a ping-pong: when they come before their receive, for requests, for
 * matching among many, for changing the peer. Closed forms, to the nanosecond. */
#include "aligned.h"

#define US 1e-6
#define NEAR 1e-9
#define MANY 10

static int rank;
static char data[1 << 20];

static void expect(const char *what, double seconds)
{
    expect_within(NEAR, what, seconds);
}

/* Rank 1 sends, as it did last in the barrier; rank 0 receives after `late`, and may look
 * before. */
static void one_message(int bytes, double late, int look, double end)
{
    align();
    if (rank == 1)
        MPI_Send(data, bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
    if (rank != 0)
        return;
    check_spend(late);
    if (look)
        MPI_Probe(1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Recv(data, bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    expect("a message", end);
}

static void early_and_late(void)
{
    one_message(1024, 0, 0, 1 * US + 100 * US + 2 * US);
    /* it came while the rank computed: its receive is there when the rank looks */
    one_message(1024, 1000 * US, 0, 1000 * US + 2 * US);
    one_message(1024, 1000 * US, 1, 1000 * US + 2 * US + 30 * US + 8 * US);
    one_message(1024, 0, 1, 1 * US + 100 * US + 2 * US + 30 * US + 8 * US);
    /* a rendezvous: the receiver answers that much later */
    one_message(sizeof data, 0, 0, 1 * US + 300 * US + 2 * US);
    one_message(sizeof data, 1000 * US, 1, 1000 * US + 30 * US + 200 * US + 2 * US);
}

/* A non-blocking receive that is posted in time or not, and from any source. */
static void nonblocking(double late, int source, double end)
{
    MPI_Request request;

    align();
    if (rank == 1)
        MPI_Send(data, 0, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
    if (rank != 0)
        return;
    check_spend(late);
    if (late > 0)
        MPI_Probe(1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Irecv(data, 0, MPI_BYTE, source, 0, MPI_COMM_WORLD, &request);
    expect("a request", late + 5 * US);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    expect("a request's message", end);
}

/* A receive costs more for each that is pending, not for those that are complete. */
static void many(void)
{
    MPI_Request requests[MANY], more;
    MPI_Status statuses[MANY];

    align();
    if (rank == 0) {
        for (int i = 0; i < MANY; i++)
            MPI_Irecv(data, 0, MPI_BYTE, 1, i, MPI_COMM_WORLD, &requests[i]);
        expect("receives", MANY * 5 * US);
        MPI_Waitall(MANY, requests, statuses);
        /* from the first one on, the processor is busy with one after the other */
        expect("among many", 1 * US + 100 * US + MANY * 2 * US + MANY * (MANY - 1) / 2 * 3 * US);
        /* what came meanwhile is unexpected */
        origin = MPI_Wtime();
        MPI_Recv_init(data, 0, MPI_BYTE, 1, 0, MPI_COMM_WORLD, &requests[0]);
        MPI_Start(&requests[0]);
        MPI_Irecv(data, 0, MPI_BYTE, 1, 1, MPI_COMM_WORLD, &more);
        expect("two requests", 10 * US);
        MPI_Wait(&more, MPI_STATUS_IGNORE);
        expect("the second has one before it", 10 * US + 2 * US + 30 * US + 3 * US);
        MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
        MPI_Request_free(&requests[0]);
        origin = MPI_Wtime();
        MPI_Irecv(data, 0, MPI_BYTE, 1, 2, MPI_COMM_WORLD, &more);
        MPI_Wait(&more, MPI_STATUS_IGNORE);
        expect("none is pending any more", 5 * US + 2 * US + 30 * US);
    } else if (rank == 1) {
        for (int i = 0; i < MANY; i++)
            MPI_Send(data, 0, MPI_BYTE, 0, i, MPI_COMM_WORLD);
        for (int i = 0; i < 3; i++)
            MPI_Send(data, 0, MPI_BYTE, 0, i, MPI_COMM_WORLD);
    }
}

static void peers(void)
{
    MPI_Request requests[2];

    align();
    if (rank == 0) {
        MPI_Send(data, 0, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
        origin = MPI_Wtime();
        MPI_Send(data, 0, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
        expect("the same peer", 1 * US);
        MPI_Send(data, 0, MPI_BYTE, 2, 0, MPI_COMM_WORLD);
        expect("another peer", 9 * US);
        MPI_Isend(data, 0, MPI_BYTE, 2, 0, MPI_COMM_WORLD, &requests[0]);
        expect("a request", 15 * US);
        MPI_Isend(data, 0, MPI_BYTE, 1, 0, MPI_COMM_WORLD, &requests[1]);
        expect("back again", 28 * US);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        expect("waiting costs nothing", 28 * US);
    } else {
        for (int i = 0; i < 4 - rank; i++)
            MPI_Recv(data, 0, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    early_and_late();
    nonblocking(0, 1, 1 * US + 100 * US + 2 * US);
    nonblocking(1000 * US, 1, 1005 * US + 2 * US + 30 * US);
    nonblocking(0, MPI_ANY_SOURCE, 1 * US + 100 * US + 2 * US);
    nonblocking(1000 * US, MPI_ANY_SOURCE, 1005 * US + 2 * US + 30 * US);
    many();
    peers();
    if (rank == 0)
        printf("ok\n");
    MPI_Finalize();
    return 0;
}
