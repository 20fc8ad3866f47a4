/* Computes in ten slices without any message, and prints when it ended. */
#include <mpi.h>
#include <stdio.h>

static volatile double sink;

int main(int argc, char **argv)
{
    int flag, rank;

    MPI_Init(&argc, &argv);
    for (int i = 0; i < 10; i++) {
        for (int k = 0; k < 20000; k++)
            sink += k;
        MPI_Initialized(&flag);
    }
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    printf("%d %.12f\n", rank, MPI_Wtime());
    MPI_Finalize();
    return 0;
}
