/* Rank 2 writes through a bad pointer, in a function with a name to look for. */
#include <mpi.h>

static volatile int *nowhere = (int *)16;

__attribute__((noinline)) void crash_here(void)
{
    *nowhere = 1;
}

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 2)
        crash_here();
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
