/*
 * Decisions at the same virtual time: everything is sent at once, and the program prints what
 * wildcards, waitany, testsome and probes have seen. Argument 1: rounds.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

extern void orrery_compute(double seconds) __attribute__((weak));
extern void orrery_yield(void) __attribute__((weak));

enum { LIMIT = 64 }; /* ranks */

static int rank, size;

static unsigned scatter_gather(unsigned h)
{
    MPI_Request sends[LIMIT];
    MPI_Status status;
    int x = rank, y;

    if (rank % 3 == 0)
        orrery_compute(1e-6);
    for (int i = 1; i < size; i++)
        MPI_Isend(&x, 1, MPI_INT, (rank + i) % size, i % 2, MPI_COMM_WORLD, &sends[i - 1]);
    for (int i = 1; i < size; i++) {
        MPI_Recv(&y, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
        h = h * 31 + (unsigned)(status.MPI_SOURCE * 2 + status.MPI_TAG);
    }
    MPI_Waitall(size - 1, sends, MPI_STATUSES_IGNORE);
    return h;
}

static unsigned some(unsigned h)
{
    MPI_Request r[LIMIT], sends[LIMIT];
    int values[LIMIT], indices[LIMIT], n, left = size - 1, x = rank;

    for (int i = 1; i < size; i++)
        MPI_Irecv(&values[i - 1], 1, MPI_INT, (rank + i) % size, 2, MPI_COMM_WORLD, &r[i - 1]);
    for (int i = 1; i < size; i++) {
        if ((rank + i) % 4 == 1)
            orrery_compute(2e-7);
        MPI_Isend(&x, 1, MPI_INT, (rank + i) % size, 2, MPI_COMM_WORLD, &sends[i - 1]);
    }
    while (left) {
        MPI_Testsome(size - 1, r, &n, indices, MPI_STATUSES_IGNORE);
        for (int i = 0; i < n; i++)
            h = h * 37 + (unsigned)indices[i];
        h = h * 3 + (unsigned)n;
        left -= n;
    }
    MPI_Waitall(size - 1, sends, MPI_STATUSES_IGNORE);
    return h;
}

static unsigned yields(unsigned h)
{
    int flag = 0, y, n = 0;
    MPI_Status status;

    if (rank) {
        orrery_compute(1e-6 * (rank % 4));
        MPI_Send(&rank, 1, MPI_INT, 0, 3, MPI_COMM_WORLD);
        return h;
    }
    for (int got = 0; got < size - 1;) {
        MPI_Iprobe(MPI_ANY_SOURCE, 3, MPI_COMM_WORLD, &flag, &status);
        n++;
        if (!flag) {
            orrery_yield();
            continue;
        }
        MPI_Recv(&y, 1, MPI_INT, status.MPI_SOURCE, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        h = h * 41 + (unsigned)y;
        got++;
    }
    return h * 43 + (unsigned)n;
}

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 3;
    unsigned h = 1;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < rounds; i++) {
        h = scatter_gather(h);
        MPI_Barrier(MPI_COMM_WORLD);
        h = some(h);
        h = yields(h);
        MPI_Barrier(MPI_COMM_WORLD);
        printf("rank %d round %d: %08x at %.12f\n", rank, i, h, MPI_Wtime());
    }
    MPI_Finalize();
    return 0;
}
