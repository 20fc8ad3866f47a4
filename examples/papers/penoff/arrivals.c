/*
 * arrivals.c - every rank sends messages to all others without waiting, and posts its receives some
 * time apart. A message that comes before its receive is posted is unexpected; which ones are
 * depends on the network.
 *
 * usage: arrivals ROUNDS MICROSECONDS      between the posts of two receives
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define BYTES 32

static void compute(double seconds)
{
    double start = MPI_Wtime();

    while (MPI_Wtime() - start < seconds)
        ;
}

static void exchange(int rank, int size, char (*in)[BYTES], MPI_Request *requests, double pause)
{
    static char out[BYTES];
    int count = 0;

    for (int i = 1; i < size; i++)
        MPI_Isend(out, BYTES, MPI_BYTE, (rank + i) % size, 0, MPI_COMM_WORLD, &requests[count++]);
    for (int i = 1; i < size; i++) {
        compute(pause);
        MPI_Irecv(in[i], BYTES, MPI_BYTE, (rank + size - i) % size, 0, MPI_COMM_WORLD,
                  &requests[count++]);
    }
    MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    int rank, size, rounds;
    MPI_Request *requests;
    char(*in)[BYTES];
    double pause;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    rounds = argc > 1 ? atoi(argv[1]) : 0;
    pause = argc > 2 ? atof(argv[2]) * 1e-6 : -1;
    in = malloc((size_t)size * BYTES);
    requests = malloc(2 * (size_t)size * sizeof(MPI_Request));
    if (rounds < 1 || pause < 0 || !in || !requests) {
        fprintf(stderr, "usage: arrivals ROUNDS MICROSECONDS\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    for (int i = 0; i < rounds; i++)
        exchange(rank, size, in, requests, pause);
    free(in);
    free(requests);
    MPI_Finalize();
    return 0;
}
