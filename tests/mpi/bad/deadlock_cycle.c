/* Every rank receives from its left neighbour before it sends: a cycle of all ranks. */
#include <mpi.h>

int main(int argc, char **argv)
{
    int rank, size, in = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Recv(&in, 1, MPI_INT, (rank + size - 1) % size, 33, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Send(&rank, 1, MPI_INT, (rank + 1) % size, 33, MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
