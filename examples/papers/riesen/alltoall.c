/*
 * alltoall.c - how long MPI_Alltoall takes, by the size of the blocks.
 *
 * Prints a line for each size: the bytes of a block, and the mean time of a call in seconds, on the
 * slowest rank.
 *
 * usage: alltoall LARGEST ROUNDS          sizes are 1, 4, 16, ... up to LARGEST bytes
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static double measure(char *out, char *in, int bytes, int rounds)
{
    double mine, slowest;

    MPI_Barrier(MPI_COMM_WORLD);
    mine = MPI_Wtime();
    for (int i = 0; i < rounds; i++)
        MPI_Alltoall(out, bytes, MPI_BYTE, in, bytes, MPI_BYTE, MPI_COMM_WORLD);
    mine = (MPI_Wtime() - mine) / rounds;
    MPI_Reduce(&mine, &slowest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    return slowest;
}

int main(int argc, char **argv)
{
    int rank, size, largest, rounds;
    char *out, *in;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    largest = argc > 1 ? atoi(argv[1]) : 0;
    rounds = argc > 2 ? atoi(argv[2]) : 0;
    out = calloc((size_t)size, (size_t)(largest > 0 ? largest : 1));
    in = calloc((size_t)size, (size_t)(largest > 0 ? largest : 1));
    if (rounds < 1 || largest < 1 || !out || !in) {
        fprintf(stderr, "usage: alltoall LARGEST ROUNDS\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    for (int bytes = 1; bytes <= largest; bytes *= 4) {
        double time;

        measure(out, in, bytes, 1);
        time = measure(out, in, bytes, rounds);
        if (rank == 0)
            printf("%d %.12f\n", bytes, time);
    }
    free(out);
    free(in);
    MPI_Finalize();
    return 0;
}
