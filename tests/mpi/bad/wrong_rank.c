/* Sends to a rank that does not exist, with one argument in a communicator whose ranks differ from
 * the world's; with two arguments, creates an invalid datatype instead. */
#include <mpi.h>

int main(int argc, char **argv)
{
    MPI_Comm comm = MPI_COMM_WORLD;
    int rank, data = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (argc == 2) {
        MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &comm);
        MPI_Comm_set_name(comm, "backwards");
    }
    if (argc == 3)
        MPI_Type_commit(&(MPI_Datatype){MPI_DATATYPE_NULL});
    if (rank == 3)
        MPI_Send(&data, 1, MPI_INT, 17, 0, comm);
    MPI_Finalize();
    return 0;
}
