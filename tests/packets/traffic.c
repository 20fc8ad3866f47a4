/*
 * Traffic for the packet network: rings of messages of many sizes, an all-to-all, and many senders
 * to one receiver. Everything that is received is checked.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, size;

static char value(int src, int i)
{
    return (char)(src * 31 + i);
}

static void check(const char *data, int n, int src)
{
    for (int i = 0; i < n; i++)
        if (data[i] != value(src, i)) {
            printf("rank %d: byte %d of %d from rank %d is wrong\n", rank, i, n, src);
            MPI_Abort(MPI_COMM_WORLD, 1);
        }
}

static void fill(char *data, int n)
{
    for (int i = 0; i < n; i++)
        data[i] = value(rank, i);
}

static void ring(int n)
{
    char *out = malloc((size_t)n + 1), *in = malloc((size_t)n + 1);
    int before = (rank + size - 1) % size;

    fill(out, n);
    MPI_Sendrecv(out, n, MPI_CHAR, (rank + 1) % size, 0, in, n, MPI_CHAR, before, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    check(in, n, before);
    free(out);
    free(in);
}

static void incast(int n, int times)
{
    char *data = malloc((size_t)n * (size_t)size);
    MPI_Request *requests = malloc((size_t)size * sizeof(MPI_Request));

    fill(data, n);
    for (int i = 0; i < times; i++)
        if (rank > 0) {
            MPI_Send(data, n, MPI_CHAR, 0, 1, MPI_COMM_WORLD);
        } else {
            for (int src = 1; src < size; src++)
                MPI_Irecv(data + (size_t)n * (size_t)src, n, MPI_CHAR, src, 1, MPI_COMM_WORLD,
                          &requests[src - 1]);
            MPI_Waitall(size - 1, requests, MPI_STATUSES_IGNORE);
            for (int src = 1; src < size; src++)
                check(data + (size_t)n * (size_t)src, n, src);
        }
    free(requests);
    free(data);
}

int main(int argc, char **argv)
{
    int most = argc > 1 ? atoi(argv[1]) : 65536;
    int *all;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int n = 0; n <= most; n = n < 10 ? n + 1 : 3 * n)
        ring(n);
    all = calloc((size_t)size * 2, sizeof *all);
    for (int i = 0; i < size; i++)
        all[i] = rank;
    MPI_Alltoall(all, 1, MPI_INT, all + size, 1, MPI_INT, MPI_COMM_WORLD);
    for (int i = 0; i < size; i++)
        if (all[size + i] != i)
            MPI_Abort(MPI_COMM_WORLD, 1);
    free(all);
    incast(most, 3);
    MPI_Finalize();
    return 0;
}
