/* Messages of all kinds, in bytes that links carry: eager and rendezvous, collectives,
 * one-sided. With the word abort: the run ends while a message is in flight. */
#include <mpi.h>
#include <stdlib.h>

#define MANY 20000

/* Rank 5 has its message when rank 1 has a tenth of its own. */
static void abort_early(int rank)
{
    static char data[50 * MANY];
    if (rank == 0 || rank == 4)
        MPI_Send(data, rank == 0 ? 50 * MANY : 5 * MANY, MPI_CHAR, rank + 1, 0, MPI_COMM_WORLD);
    if (rank == 1 || rank == 5)
        MPI_Recv(data, sizeof data, MPI_CHAR, rank - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == 5)
        MPI_Abort(MPI_COMM_WORLD, 5);
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    static char out[MANY], in[8 * MANY];
    int rank, size;
    MPI_Win win;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc > 1)
        abort_early(rank);
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
