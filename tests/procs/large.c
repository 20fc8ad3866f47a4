/* Messages of 64 MiB in both directions between the first and the last rank, and around all
 * ranks. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define BYTES (64 << 20)

static unsigned sum(const unsigned char *p)
{
    unsigned s = 1;

    for (size_t i = 0; i < BYTES; i += 4093)
        s = s * 31 + p[i];
    return s;
}

int main(int argc, char **argv)
{
    unsigned char *out = malloc(BYTES), *in = calloc(1, BYTES);
    int rank, size;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (size_t i = 0; i < BYTES; i++)
        out[i] = (unsigned char)(i * 7 + i / 4093 + (size_t)rank);
    if (rank == 0)
        MPI_Send(out, BYTES, MPI_BYTE, size - 1, 1, MPI_COMM_WORLD);
    if (rank == size - 1)
        MPI_Recv(in, BYTES, MPI_BYTE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    printf("rank %d has %x at %.12f\n", rank, sum(in), MPI_Wtime());
    MPI_Sendrecv(out, BYTES, MPI_BYTE, (rank + 1) % size, 2, in, BYTES, MPI_BYTE,
                 (rank + size - 1) % size, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    printf("rank %d has %x at %.12f\n", rank, sum(in), MPI_Wtime());
    MPI_Finalize();
    free(in);
    free(out);
    return 0;
}
