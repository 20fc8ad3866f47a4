/*
 * dumbbell.c - the first half of the ranks sends messages to the second half, each to its partner.
 *
 * usage: dumbbell COUNT BYTES
 */
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int rank, size, count, bytes;
    char *buffer;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    count = argc > 1 ? atoi(argv[1]) : 1;
    bytes = argc > 2 ? atoi(argv[2]) : 65536;
    buffer = malloc((size_t)bytes);
    if (!buffer || size % 2)
        MPI_Abort(MPI_COMM_WORLD, 2);
    for (int i = 0; i < count; i++)
        if (rank < size / 2)
            MPI_Send(buffer, bytes, MPI_CHAR, rank + size / 2, 0, MPI_COMM_WORLD);
        else
            MPI_Recv(buffer, bytes, MPI_CHAR, rank - size / 2, 0, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
    free(buffer);
    MPI_Finalize();
    return 0;
}
