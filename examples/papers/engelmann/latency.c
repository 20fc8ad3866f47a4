/*
 * latency.c - the one-way latency of messages between ranks 0 and 1, by ping-pong.
 *
 * Prints a line for each size: its bytes, and half of the mean time of a round trip, in seconds.
 *
 * usage: latency LARGEST ROUNDS          sizes are 0, 1, 4, 16, ... up to LARGEST bytes
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static double one_way(char *data, int bytes, int rounds, int rank)
{
    double start;

    MPI_Barrier(MPI_COMM_WORLD);
    start = MPI_Wtime();
    for (int i = 0; i < rounds; i++) {
        if (rank == 0)
            MPI_Send(data, bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
        MPI_Recv(data, bytes, MPI_BYTE, !rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (rank == 1)
            MPI_Send(data, bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
    }
    return (MPI_Wtime() - start) / rounds / 2;
}

int main(int argc, char **argv)
{
    int rank, size, largest, rounds;
    char *data;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    largest = argc > 1 ? atoi(argv[1]) : 0;
    rounds = argc > 2 ? atoi(argv[2]) : 0;
    if (size != 2 || rounds < 1 || largest < 0 || !(data = calloc((size_t)largest + 1, 1))) {
        fprintf(stderr, "usage: latency LARGEST ROUNDS, on 2 ranks\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
        return 2;
    }
    for (int bytes = 0; bytes <= largest; bytes = bytes ? 4 * bytes : 1) {
        double time;

        one_way(data, bytes, 2, rank);
        time = one_way(data, bytes, rounds, rank);
        if (rank == 0)
            printf("%d %.12f\n", bytes, time);
    }
    free(data);
    MPI_Finalize();
    return 0;
}
