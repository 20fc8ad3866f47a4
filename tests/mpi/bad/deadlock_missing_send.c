/* Rank 1 waits for a message that rank 0 never sends; the others wait in a barrier for it. */
#include <mpi.h>

int main(int argc, char **argv)
{
    int rank, in = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 1)
        MPI_Recv(&in, 1, MPI_INT, 0, 44, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
