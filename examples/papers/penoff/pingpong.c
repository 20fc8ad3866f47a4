/*
 * pingpong.c - two ranks pass a message back and forth, and compute in between if asked to.
 *
 * usage: pingpong ROUNDS BYTES [MICROSECONDS]
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static void compute(double seconds)
{
    double start = MPI_Wtime();

    while (MPI_Wtime() - start < seconds)
        ;
}

int main(int argc, char **argv)
{
    int rank, rounds, bytes;
    double pause, start;
    char *data;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    rounds = argc > 1 ? atoi(argv[1]) : 0;
    bytes = argc > 2 ? atoi(argv[2]) : -1;
    pause = argc > 3 ? atof(argv[3]) * 1e-6 : 0;
    if (rounds < 1 || bytes < 0 || !(data = calloc((size_t)bytes + 1, 1))) {
        fprintf(stderr, "usage: pingpong ROUNDS BYTES [MICROSECONDS]\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
        return 2;
    }
    MPI_Barrier(MPI_COMM_WORLD);
    start = MPI_Wtime();
    for (int i = 0; i < rounds && rank < 2; i++) {
        if (rank == i % 2)
            MPI_Send(data, bytes, MPI_BYTE, !rank, 0, MPI_COMM_WORLD);
        else
            MPI_Recv(data, bytes, MPI_BYTE, !rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (pause > 0)
            compute(pause);
    }
    if (rank == 0)
        printf("time %.9f s\n", MPI_Wtime() - start);
    free(data);
    MPI_Finalize();
    return 0;
}
