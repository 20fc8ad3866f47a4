/* Ends badly: one rank aborts, crashes or exits while others wait, all wait for each other, or
 * nobody calls MPI_Init; or well. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* One message for two receives. */
static void receive_too_many(int rank)
{
    MPI_Request requests[2];
    int got[2];
    if (rank == 1)
        MPI_Send(&rank, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
    for (int i = 0; rank == 0 && i < 2; i++)
        MPI_Irecv(&got[i], 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &requests[i]);
    if (rank == 0)
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

/* A message that takes longer than it takes to find a deadlock. */
static void receive_slowly(int rank)
{
    size_t bytes = (size_t)128 << 20;
    char *buffer = calloc(bytes, 1);
    if (rank == 1)
        MPI_Send(buffer, (int)bytes, MPI_CHAR, 0, 0, MPI_COMM_WORLD);
    if (rank == 0)
        MPI_Recv(buffer, (int)bytes, MPI_CHAR, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    free(buffer);
}

int main(int argc, char **argv)
{
    int rank;
    if (argc != 2 || strcmp(argv[1], "early") == 0)
        return 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (strcmp(argv[1], "wait") == 0) {
        printf("%d\n", (int)getpid());
        fflush(stdout);
        MPI_Barrier(MPI_COMM_WORLD);
        for (;;)
            pause();
    }
    if (rank == 1 && strcmp(argv[1], "abort") == 0)
        MPI_Abort(MPI_COMM_WORLD, 7);
    if (rank == 1 && strcmp(argv[1], "crash") == 0)
        raise(SIGSEGV);
    if (rank == 1 && strcmp(argv[1], "assert") == 0)
        abort();
    if (rank == 1 && strcmp(argv[1], "divide") == 0)
        raise(SIGFPE);
    if (rank == 1 && strcmp(argv[1], "exit") == 0)
        exit(3);
    if (strcmp(argv[1], "deadlock") == 0)
        MPI_Recv(&rank, 1, MPI_INT, (rank + 1) % 3, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (strcmp(argv[1], "any") == 0)
        MPI_Recv(&rank, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (strcmp(argv[1], "all") == 0)
        receive_too_many(rank);
    if (strcmp(argv[1], "slow") == 0)
        receive_slowly(rank);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
