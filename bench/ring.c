/*
 * ring.c - messages of 8 bytes around a ring; every rank sends in every round.
 *
 * usage: ring ROUNDS [both]
 * With `both`, each rank also sends to the other side, and answers what it got in the round before:
 * a rank can then not run ahead of its neighbours, so that every round blocks and switches.
 * The numbers passed on are checked.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TO_RIGHT, TO_LEFT };

static long long pass(long long value, int to, int from, int tag)
{
    long long got;

    MPI_Send(&value, 1, MPI_LONG_LONG, to, tag, MPI_COMM_WORLD);
    MPI_Recv(&got, 1, MPI_LONG_LONG, from, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return got;
}

int main(int argc, char **argv)
{
    long long rounds, right, left;
    int rank, size, next, previous, both, wrong;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    rounds = argc > 1 ? atoll(argv[1]) : 1;
    both = argc > 2 && strcmp(argv[2], "both") == 0;
    next = (rank + 1) % size;
    previous = (rank + size - 1) % size;
    right = left = rank;
    for (long long i = 0; i < rounds; i++) {
        right = pass(right, next, previous, TO_RIGHT);
        if (both)
            left = pass(left, previous, next, TO_LEFT);
    }
    wrong = right != ((rank - rounds) % size + size) % size ||
            (both && left != (rank + rounds) % size);
    if (wrong)
        fprintf(stderr, "ring: rank %d got the wrong number\n", rank);
    MPI_Finalize();
    return wrong;
}
