/* Receives from any source that get long messages while their rank is in another call: the senders
 * wait for them, and others for the senders. Data must be right, whatever the simulator guesses. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { COUNT = 100000, TOGETHER = 1, CHAIN, PASSED, BACK };

static int rank, ranks;

static void check(const int *data, const MPI_Status *status)
{
    if (data[0] != status->MPI_SOURCE || data[COUNT - 1] != status->MPI_SOURCE)
        printf("from %d: %d ... %d\n", status->MPI_SOURCE, data[0], data[COUNT - 1]);
}

/* All others send, and only then enter the barrier, in which rank 0 is. */
static void together(int *data)
{
    MPI_Request *requests = malloc((size_t)ranks * sizeof *requests);
    MPI_Status *statuses = malloc((size_t)ranks * sizeof *statuses);
    for (int i = 1; rank == 0 && i < ranks; i++)
        MPI_Irecv(data + (long)i * COUNT, COUNT, MPI_INT, MPI_ANY_SOURCE, TOGETHER, MPI_COMM_WORLD,
                  &requests[i]);
    if (rank != 0)
        MPI_Send(data, COUNT, MPI_INT, 0, TOGETHER, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        MPI_Waitall(ranks - 1, requests + 1, statuses + 1);
    for (int i = 1; rank == 0 && i < ranks; i++)
        check(data + (long)i * COUNT, &statuses[i]);
    free(requests);
    free(statuses);
}

/* Rank 1 sends a long message to rank 0, reads a clock, and sends to rank 2, for which rank 0 waits
 * before it completes its receive. */
static void chain(int *data)
{
    MPI_Request request;
    MPI_Status status;
    int word = 0;
    if (rank == 0) {
        MPI_Irecv(data, COUNT, MPI_INT, MPI_ANY_SOURCE, CHAIN, MPI_COMM_WORLD, &request);
        MPI_Recv(&word, 1, MPI_INT, 2, BACK, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Wait(&request, &status);
        check(data, &status);
    } else if (rank == 1) {
        MPI_Send(data, COUNT, MPI_INT, 0, CHAIN, MPI_COMM_WORLD);
        if (MPI_Wtime() < 0)
            puts("no time");
        MPI_Send(&word, 1, MPI_INT, 2, PASSED, MPI_COMM_WORLD);
    } else if (rank == 2) {
        MPI_Recv(&word, 1, MPI_INT, MPI_ANY_SOURCE, PASSED, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(&word, 1, MPI_INT, 0, BACK, MPI_COMM_WORLD);
    }
}

int main(int argc, char **argv)
{
    int *data;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    data = calloc((size_t)ranks * COUNT, sizeof *data);
    data[0] = data[COUNT - 1] = rank;
    for (int i = 0; i < 5; i++) {
        together(data);
        chain(data);
    }
    if (rank == 0)
        puts("done");
    MPI_Finalize();
    free(data);
    return 0;
}
