/*
 * alltoall.c - every rank sends 8 bytes to every other by MPI_Isend, and receives by MPI_Irecv,
 * posted in another order than messages come: matching among many.
 *
 * usage: alltoall ROUNDS
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int rank, size, rounds, wrong = 0;
    MPI_Request *requests;
    int *out, *in;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    rounds = argc > 1 ? atoi(argv[1]) : 1;
    requests = malloc(2 * (size_t)size * sizeof *requests);
    out = malloc(2 * (size_t)size * sizeof *out);
    in = malloc(2 * (size_t)size * sizeof *in);
    if (!requests || !out || !in)
        MPI_Abort(MPI_COMM_WORLD, 2);
    for (int round = 0; round < rounds; round++) {
        int n = 0;

        for (int i = 0; i < size; i++)
            MPI_Irecv(in + 2 * i, 2, MPI_INT, i, round, MPI_COMM_WORLD, &requests[n++]);
        for (int i = 0; i < size; i++) {
            int to = (rank + i) % size;

            out[2 * to] = rank;
            out[2 * to + 1] = to + round;
            MPI_Isend(out + 2 * to, 2, MPI_INT, to, round, MPI_COMM_WORLD, &requests[n++]);
        }
        MPI_Waitall(n, requests, MPI_STATUSES_IGNORE);
        for (int i = 0; i < size; i++)
            wrong |= in[2 * i] != i || in[2 * i + 1] != rank + round;
    }
    if (wrong)
        fprintf(stderr, "alltoall: rank %d got wrong numbers\n", rank);
    free(requests);
    free(out);
    free(in);
    MPI_Finalize();
    return wrong;
}
