/*
 * flows.c - flows that share one link: each rank of the first half sends so many messages to one of
 * the second half, all at the same time. Prints when each flow was done, in seconds.
 *
 * usage: flows COUNT BYTES
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int rank, size, count = argc > 1 ? atoi(argv[1]) : 1, bytes = argc > 2 ? atoi(argv[2]) : 65536;
    char *data = calloc((size_t)bytes, 1);
    double start, took, *all;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    all = calloc((size_t)size, sizeof *all);
    /* All connections are open when the flows begin. */
    if (rank < size / 2)
        MPI_Send(data, 1, MPI_BYTE, rank + size / 2, 0, MPI_COMM_WORLD);
    else
        MPI_Recv(data, 1, MPI_BYTE, rank - size / 2, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
    start = MPI_Wtime();
    for (int i = 0; i < count; i++)
        if (rank < size / 2)
            MPI_Send(data, bytes, MPI_BYTE, rank + size / 2, 0, MPI_COMM_WORLD);
        else
            MPI_Recv(data, bytes, MPI_BYTE, rank - size / 2, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    took = MPI_Wtime() - start;
    MPI_Gather(&took, 1, MPI_DOUBLE, all, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    for (int i = size / 2; rank == 0 && i < size; i++)
        printf("%.6f\n", all[i]);
    MPI_Finalize();
    free(all);
    free(data);
    return 0;
}
