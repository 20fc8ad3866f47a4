/* Messages of many sizes, collectives and receives from any source, without computing. */
#include <mpi.h>
#include <stdlib.h>

enum { ROUNDS = 20, ROOM = 400000 };

static void round_of(int round, int rank, int size, char *out, char *in)
{
    int bytes = 1 << (round % 19);
    double mine = rank, sum;
    MPI_Request requests[2];
    MPI_Comm half;
    MPI_Irecv(in, ROOM, MPI_BYTE, (rank + size - 1) % size, round, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(out, bytes, MPI_BYTE, (rank + 1) % size, round, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    if (rank > 0)
        MPI_Send(out, bytes, MPI_BYTE, 0, ROUNDS, MPI_COMM_WORLD);
    for (int i = 1; rank == 0 && i < size; i++)
        MPI_Recv(in, ROOM, MPI_BYTE, MPI_ANY_SOURCE, ROUNDS, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    MPI_Alltoall(out, 100, MPI_BYTE, in, 100, MPI_BYTE, half);
    MPI_Comm_free(&half);
}

int main(int argc, char **argv)
{
    int rank, size;
    char *out = calloc(1, ROOM), *in = calloc(1, ROOM);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < ROUNDS; i++)
        round_of(i, rank, size, out, in);
    MPI_Finalize();
    free(out);
    free(in);
    return 0;
}
