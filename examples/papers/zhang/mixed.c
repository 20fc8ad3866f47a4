/*
 * mixed.c - messages of all sizes, one after the other and several at once, and collectives: enough
 * to distinguish latency, overhead, gap, bandwidth and eager limit of a network.
 *
 * usage: mixed ROUNDS
 */
#include <mpi.h>
#include <stdlib.h>

#define MOST (1 << 18)
#define BURST 8

static char out[MOST], in[BURST][MOST];

static void exchange(int to, int from, int bytes)
{
    MPI_Request requests[2];
    MPI_Irecv(in[0], bytes, MPI_CHAR, from, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(out, bytes, MPI_CHAR, to, 0, MPI_COMM_WORLD, &requests[1]);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
}

static void burst(int to, int from, int bytes)
{
    MPI_Request requests[2 * BURST];
    for (int i = 0; i < BURST; i++)
        MPI_Irecv(in[i], bytes, MPI_CHAR, from, i, MPI_COMM_WORLD, &requests[i]);
    for (int i = 0; i < BURST; i++)
        MPI_Isend(out, bytes, MPI_CHAR, to, i, MPI_COMM_WORLD, &requests[BURST + i]);
    for (int i = 0; i < 2 * BURST; i++)
        MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int round = 0; round < (argc > 1 ? atoi(argv[1]) : 1); round++) {
        double mine = rank, sum;
        for (int bytes = 1; bytes <= MOST; bytes *= 4) {
            exchange((rank + 1) % size, (rank + size - 1) % size, bytes);
            MPI_Barrier(MPI_COMM_WORLD);
            if (bytes <= 4096)
                burst((rank + 1) % size, (rank + size - 1) % size, bytes);
        }
        MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        MPI_Bcast(out, MOST / 4, MPI_CHAR, round % size, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
