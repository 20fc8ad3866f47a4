/* Rank 1 runs a command, by default one that takes a second, and tells how long that was. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    double start;
    int rank, status = -1;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    start = MPI_Wtime();
    if (rank == 1)
        status = system(argc > 1 ? argv[1] : "sleep 1; exit 7");
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1)
        printf("status %d, %s\n", status >> 8, MPI_Wtime() - start < 0.5 ? "short" : "long");
    MPI_Finalize();
    return 0;
}
