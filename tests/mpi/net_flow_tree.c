/* test: n=8,16 native=2 measured=no schedules=5 run="--set net.model=flow,net.latency=1us,net.bandwidth=10Gbps,net.hop_latency=100ns,net.topology.kind=fat-tree,net.topology.down=2x2x2x2,net.topology.up=1x1x1x1,nodes.ranks=2,net.intra.memory_bandwidth=20Gbps,mpi.eager_limit=4KiB"
 * Much traffic of many kinds on a thin tree with two ranks on each node: random exchanges with
 * eager and large messages, wildcards, tests, one-sided operations and collectives. What counts is
 * that time and order are the same for every schedule and number of processes. */
#include "check.h"

enum { ROUNDS = 6, MESSAGES = 4, ROOM = 20000 };

static int rank, size;
static unsigned seed;

static unsigned draw(unsigned below)
{
    seed = seed * 1103515245 + 12345;
    return (seed >> 8) % below;
}

/* Every rank sends a few messages to ranks that all can compute. */
static void exchange(int number, char *buffer)
{
    MPI_Request requests[MESSAGES];
    long sum = 0;
    int expected = 0;

    for (int from = 0; from < size; from++) {
        for (int i = 0; i < MESSAGES; i++) {
            int to, bytes;

            seed = (unsigned)(number * 7919 + from * 104729 + i * 31);
            draw(2);
            to = (int)draw((unsigned)size);
            bytes = (int)draw(ROOM);
            expected += to == rank;
            if (from == rank)
                MPI_Isend(buffer, bytes, MPI_CHAR, to, i, MPI_COMM_WORLD, &requests[i]);
        }
    }
    for (int i = 0; i < expected; i++) {
        MPI_Status status;

        MPI_Recv(buffer + ROOM, ROOM, MPI_CHAR, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD,
                 &status);
        sum = (sum * 31 + status.MPI_SOURCE * 8 + status.MPI_TAG) % 1000003;
    }
    for (int done = 0, polls = 0; !done; polls++)
        MPI_Testall(MESSAGES, requests, &done, MPI_STATUSES_IGNORE);
    if (check_virtual())
        printf("virtual: rank %d round %d order %ld time %.12f\n", rank, number, sum, MPI_Wtime());
}

static void one_sided(void)
{
    MPI_Win win;
    int *memory, mine = rank + 1, got = 0;

    MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    *memory = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, win);
    for (int i = 0; i < 3; i++)
        MPI_Fetch_and_op(&mine, &got, MPI_INT, 0, 0, MPI_SUM, win);
    MPI_Win_flush(0, win);
    MPI_Win_unlock_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(rank || *memory == 3 * size * (size + 1) / 2);
    MPI_Win_free(&win);
}

int main(int argc, char **argv)
{
    char *buffer;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    buffer = calloc(2, ROOM);
    for (int i = 0; i < ROUNDS; i++) {
        long sum = rank, all;

        exchange(i, buffer);
        MPI_Allreduce(&sum, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
        CHECK(all == (long)size * (size - 1) / 2);
    }
    one_sided();
    free(buffer);
    if (rank == 0)
        puts("ok");
    MPI_Finalize();
    return 0;
}
