/* Rank 0 sends tag 5, rank 1 waits for tag 6 on another communicator of the same ranks. */
#include <mpi.h>

int main(int argc, char **argv)
{
    int rank, data = 0;
    MPI_Comm comm;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_name(comm, "the copy");
    if (rank == 0)
        MPI_Send(&data, 1, MPI_INT, 1, 5, comm);
    else if (rank == 1)
        MPI_Recv(&data, 1, MPI_INT, 0, 6, comm, MPI_STATUS_IGNORE);
    MPI_Comm_free(&comm);
    MPI_Finalize();
    return 0;
}
