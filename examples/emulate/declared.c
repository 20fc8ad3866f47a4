/*
 * declared.c - ranks in a ring compute, exchange halos with their neighbours and add up a number,
 * again and again. They declare how long they compute, so emulation and simulation agree on it.
 *
 * usage: declared ROUNDS MICROSECONDS BYTES
 */
#include <mpi.h>
#include <orrery.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int rank, size, rounds = argc > 1 ? atoi(argv[1]) : 20;
    double pause = (argc > 2 ? atof(argv[2]) : 500) * 1e-6, sum = 0, mine;
    int bytes = argc > 3 ? atoi(argv[3]) : 10000;
    char *out = calloc(2, (size_t)bytes + 1), *in = out + bytes;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < rounds; i++) {
        orrery_compute(pause);
        MPI_Sendrecv(out, bytes, MPI_BYTE, (rank + 1) % size, 0, in, bytes, MPI_BYTE,
                     (rank + size - 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        mine = rank + i;
        MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
    if (rank == 0)
        printf("sum %g\n", sum);
    free(out);
    MPI_Finalize();
    return 0;
}
