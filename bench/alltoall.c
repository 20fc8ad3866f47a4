/*
 * alltoall.c - every rank sends 8 bytes or more to every other by MPI_Isend, and receives by
 * MPI_Irecv, posted in another order than messages come: matching among many.
 *
 * usage: alltoall ROUNDS [BYTES]
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int rank, size, rounds, n_ints, wrong = 0;
    MPI_Request *requests;
    int *out, *in;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    rounds = argc > 1 ? atoi(argv[1]) : 1;
    n_ints = argc > 2 ? atoi(argv[2]) / (int)sizeof *out : 2;
    requests = malloc(2 * (size_t)size * sizeof *requests);
    out = calloc((size_t)n_ints * (size_t)size, sizeof *out);
    in = calloc((size_t)n_ints * (size_t)size, sizeof *in);
    if (!requests || !out || !in || n_ints < 2)
        MPI_Abort(MPI_COMM_WORLD, 2);
    for (int round = 0; round < rounds; round++) {
        int n = 0;

        for (int i = 0; i < size; i++)
            MPI_Irecv(in + n_ints * i, n_ints, MPI_INT, i, round, MPI_COMM_WORLD, &requests[n++]);
        for (int i = 0; i < size; i++) {
            int to = (rank + i) % size;

            out[n_ints * to] = rank;
            out[n_ints * to + 1] = to + round;
            MPI_Isend(out + n_ints * to, n_ints, MPI_INT, to, round, MPI_COMM_WORLD,
                      &requests[n++]);
        }
        MPI_Waitall(n, requests, MPI_STATUSES_IGNORE);
        for (int i = 0; i < size; i++)
            wrong |= in[n_ints * i] != i || in[n_ints * i + 1] != rank + round;
    }
    if (wrong)
        fprintf(stderr, "alltoall: rank %d got wrong numbers\n", rank);
    free(requests);
    free(out);
    free(in);
    MPI_Finalize();
    return wrong;
}
