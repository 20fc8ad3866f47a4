/* Two ranks spawn two more, which send to them: over the intercommunicator, and over all four in
 * one. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    MPI_Comm parent, other, all;
    int rank, value = 0, sum;
    MPI_Init(&argc, &argv);
    MPI_Comm_get_parent(&parent);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (parent == MPI_COMM_NULL)
        MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &other,
                       MPI_ERRCODES_IGNORE);
    else
        other = parent;
    if (parent == MPI_COMM_NULL)
        MPI_Recv(&value, 1, MPI_INT, rank, 7, other, MPI_STATUS_IGNORE);
    else
        MPI_Send(&rank, 1, MPI_INT, rank, 7, other);
    MPI_Intercomm_merge(other, parent != MPI_COMM_NULL, &all);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, all);
    if (rank == 0 && parent == MPI_COMM_NULL)
        MPI_Recv(&value, 1, MPI_INT, 3, 8, all, MPI_STATUS_IGNORE);
    else if (rank == 1 && parent != MPI_COMM_NULL)
        MPI_Send(&rank, 1, MPI_INT, 0, 8, all);
    MPI_Comm_free(&all);
    MPI_Comm_disconnect(&other);
    MPI_Finalize();
    return 0;
}
