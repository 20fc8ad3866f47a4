/* Declares 10^9 operations and prints when they are done. */
#include <mpi.h>
#include <orrery.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    double start;
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    start = MPI_Wtime();
    orrery_flops(1e9);
    printf("rank %d: %.6f s\n", rank, MPI_Wtime() - start);
    MPI_Finalize();
    return 0;
}
