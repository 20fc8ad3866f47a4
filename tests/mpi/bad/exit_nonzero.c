/* Ranks 2 and 3 return 5 and 6: the run's status is that of the first. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Barrier(MPI_COMM_WORLD);
    printf("rank %d is done\n", rank);
    MPI_Finalize();
    return rank == 2 ? 5 : rank == 3 ? 6 : 0;
}
