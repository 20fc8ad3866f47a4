/* Rank 1 recurses without end. */
#include <mpi.h>

static volatile int depth_limit = 2000000000;

__attribute__((noinline)) static int recurse(int depth)
{
    volatile char frame[4096];
    frame[0] = (char)depth;
    if (depth >= depth_limit)
        return 0;
    return recurse(depth + 1) + frame[0];
}

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Barrier(MPI_COMM_WORLD);
    int result = rank == 1 ? recurse(0) : 0;
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return result == 12345;
}
