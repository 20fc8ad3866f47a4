/* How a run may end, by argument 1. */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
    int rank, data = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Barrier(MPI_COMM_WORLD);
    if (argc > 1 && rank == 1) {
        if (strcmp(argv[1], "abort") == 0)
            MPI_Abort(MPI_COMM_WORLD, 7);
        if (strcmp(argv[1], "crash") == 0)
            *(volatile int *)0 = 1;
    }
    if (argc > 1 && strcmp(argv[1], "exit") != 0)
        MPI_Recv(&data, 1, MPI_INT, (rank + 1) % 3, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return rank == 1 ? 5 : 0;
}
