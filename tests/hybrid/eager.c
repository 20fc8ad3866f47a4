/*
 * Messages and collectives of a size for which the real MPI may wait for the receiver and the
 * simulated one does not, while that receiver asks for the time.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { BYTES = 50000, TAG = 1 };

int main(int argc, char **argv)
{
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    char *out = calloc((size_t)size, BYTES), *in = calloc((size_t)size, BYTES);
    double times[4];
    MPI_Alltoall(out, BYTES, MPI_CHAR, in, BYTES, MPI_CHAR, MPI_COMM_WORLD);
    times[0] = MPI_Wtime();
    MPI_Send(out, BYTES, MPI_CHAR, (rank + 1) % size, TAG, MPI_COMM_WORLD);
    times[1] = MPI_Wtime();
    MPI_Recv(in, BYTES, MPI_CHAR, (rank + size - 1) % size, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    times[2] = MPI_Wtime();
    if (rank % 2)
        times[2] = MPI_Wtime();
    MPI_Bcast(out, BYTES, MPI_CHAR, 0, MPI_COMM_WORLD);
    times[3] = MPI_Wtime();
    double all[4 * 16];
    MPI_Gather(times, 4, MPI_DOUBLE, all, 4, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    for (int i = 0; rank == 0 && i < size; i++)
        printf("%d: %.0f %.0f %.0f %.0f ns\n", i, all[4 * i] * 1e9, all[4 * i + 1] * 1e9,
               all[4 * i + 2] * 1e9, all[4 * i + 3] * 1e9);
    MPI_Finalize();
    free(out);
    free(in);
    return 0;
}
