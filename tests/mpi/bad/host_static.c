/* Two megabytes of static data, all of which each rank changes. */
#include <mpi.h>
#include <stdio.h>

static int table[1 << 19];

int main(int argc, char **argv)
{
    int rank, size, wrong = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < 1 << 19; i++)
        table[i] = i * size + rank;
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < 1 << 19; i++)
        wrong += table[i] != i * size + rank;
    printf("rank %d: %d\n", rank, wrong);
    MPI_Finalize();
    return 0;
}
