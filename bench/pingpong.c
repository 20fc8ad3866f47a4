/*
 * pingpong.c - pairs of ranks send 8 bytes back and forth: a match and two switches per message.
 *
 * usage: pingpong ROUNDS      ranks 2k and 2k + 1 are a pair
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    long long rounds, value = 0;
    int rank, size, peer;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    rounds = argc > 1 ? atoll(argv[1]) : 1;
    peer = rank ^ 1;
    for (long long i = 0; peer < size && i < rounds; i++) {
        if (rank & 1) {
            MPI_Recv(&value, 1, MPI_LONG_LONG, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            value++;
        }
        MPI_Send(&value, 1, MPI_LONG_LONG, peer, 0, MPI_COMM_WORLD);
        if (!(rank & 1))
            MPI_Recv(&value, 1, MPI_LONG_LONG, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    if (peer < size && value != rounds) {
        fprintf(stderr, "pingpong: rank %d counted %lld, not %lld\n", rank, value, rounds);
        return 1;
    }
    MPI_Finalize();
    return 0;
}
