/* Rank 0 tests for ever for a message that is never sent; the others wait for it. */
#include <mpi.h>

int main(int argc, char **argv)
{
    int rank, in = 0, flag = 0;
    MPI_Request request;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        MPI_Irecv(&in, 1, MPI_INT, 1, 9, MPI_COMM_WORLD, &request);
        while (!flag)
            MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
