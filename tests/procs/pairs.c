/* Every rank sends one message to every other: with many ranks, more pairs than are counted. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    int rank, size, x = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 1; i < size; i++)
        MPI_Sendrecv(&rank, 1, MPI_INT, (rank + i) % size, 0, &x, 1, MPI_INT,
                     (rank + size - i) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == size - 1)
        printf("done at %.12f\n", MPI_Wtime());
    MPI_Finalize();
    return 0;
}
