/* Messages of all kinds, in bytes that links carry: eager and rendezvous, collectives,
 * one-sided. */
#include <mpi.h>
#include <stdlib.h>

#define MANY 20000

int main(int argc, char **argv)
{
    static char out[MANY], in[8 * MANY];
    int rank, size;
    MPI_Win win;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int bytes = 10; bytes <= MANY; bytes = bytes < MANY ? MANY : MANY + 1) {
        MPI_Sendrecv(out, bytes, MPI_CHAR, (rank + 1) % size, 0, in, bytes, MPI_CHAR,
                     (rank + size - 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Bcast(out, bytes, MPI_CHAR, 0, MPI_COMM_WORLD);
        MPI_Gather(out, bytes, MPI_CHAR, in, bytes, MPI_CHAR, size - 1, MPI_COMM_WORLD);
    }
    MPI_Win_create(in, sizeof in, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_fence(0, win);
    MPI_Put(out, MANY, MPI_CHAR, (rank + 2) % size, 0, MANY, MPI_CHAR, win);
    MPI_Win_fence(0, win);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
