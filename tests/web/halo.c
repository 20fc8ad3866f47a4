/* A ring of ranks that compute, exchange with both neighbours and now and then take part in a
 * collective; one rank in 16 has more to do. usage: halo STEPS */
#include <mpi.h>
#include <stdlib.h>

#define BYTES 2000

static double compute(int amount)
{
    volatile double x = 1;
    for (int i = 0; i < amount; i++)
        x = x * 1.0000001;
    return x;
}

static void exchange(int rank, int ranks, char *out, char *in)
{
    MPI_Request q[4];
    int left = (rank + ranks - 1) % ranks, right = (rank + 1) % ranks;
    MPI_Status statuses[4];
    MPI_Irecv(in, BYTES, MPI_CHAR, left, 1, MPI_COMM_WORLD, &q[0]);
    MPI_Irecv(in + BYTES, BYTES, MPI_CHAR, right, 2, MPI_COMM_WORLD, &q[1]);
    MPI_Isend(out, BYTES, MPI_CHAR, right, 1, MPI_COMM_WORLD, &q[2]);
    MPI_Isend(out + BYTES, BYTES, MPI_CHAR, left, 2, MPI_COMM_WORLD, &q[3]);
    MPI_Waitall(4, q, statuses);
}

int main(int argc, char **argv)
{
    int rank, ranks, steps = argc > 1 ? atoi(argv[1]) : 40;
    char *out = calloc(2, BYTES), *in = calloc(2, BYTES);
    double sum = 0, all;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (int i = 1; i <= steps; i++) {
        sum += compute(rank % 16 == 5 ? 6000 : 2000);
        exchange(rank, ranks, out, in);
        if (i % 10 == 0)
            MPI_Allreduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        if (i % 25 == 0)
            MPI_Barrier(MPI_COMM_WORLD);
    }
    free(out);
    free(in);
    MPI_Finalize();
    return 0;
}
