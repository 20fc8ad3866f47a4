/*
 * stream.c - every rank sends large messages to the rank half the machine away, and receives as
 * many.
 *
 * usage: stream COUNT BYTES
 */
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int rank, size, count, bytes;
    char *out, *in;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    count = argc > 1 ? atoi(argv[1]) : 1;
    bytes = argc > 2 ? atoi(argv[2]) : 1 << 20;
    out = malloc((size_t)bytes);
    in = malloc((size_t)bytes);
    if (!out || !in)
        MPI_Abort(MPI_COMM_WORLD, 2);
    for (int i = 0; i < count; i++)
        MPI_Sendrecv(out, bytes, MPI_CHAR, (rank + size / 2) % size, 0, in, bytes, MPI_CHAR,
                     (rank + size - size / 2) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    free(in);
    free(out);
    MPI_Finalize();
    return 0;
}
