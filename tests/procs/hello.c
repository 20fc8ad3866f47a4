/* One reduction over all ranks; the first and the last print the result. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    long rank_long, sum;
    int rank, size;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    rank_long = rank;
    MPI_Allreduce(&rank_long, &sum, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    if (rank % 1000 == 0 || rank == size - 1)
        printf("hello from %d of %d, sum %ld, at %.12f\n", rank, size, sum, MPI_Wtime());
    MPI_Finalize();
    return 0;
}
