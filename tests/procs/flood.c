/* Writes argument 1 bytes per rank, in lines of 100, at times that interleave the ranks. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

extern void orrery_compute(double seconds) __attribute__((weak));

int main(int argc, char **argv)
{
    int rank, lines = atoi(argv[1]) / 100;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < lines; i++) {
        if (i % 1000 == 0)
            orrery_compute(1e-6 * (1 + (rank * 7 + i) % 5));
        printf("%06d %08d %83d\n", rank, i, i * 3);
        if (i % 100000 == 99999)
            MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
