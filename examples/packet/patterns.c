/*
 * patterns.c - how long patterns of communication take: seconds of each of several rounds, after a
 * first one that opens connections.
 *
 *     patterns stream BYTES       rank 0 sends to rank 1, in messages of 64 KiB; others do nothing
 *     patterns pingpong BYTES     a message to rank 1 and back, ten times
 *     patterns halo BYTES         all ranks exchange with both neighbours of a ring, ten times
 *     patterns alltoall BYTES     every rank sends so much to every other one
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROUNDS 5
#define TIMES 10
#define PIECE 65536

static int rank, size;
static char *out, *in;

static void stream(int bytes)
{
    for (int sent = 0; sent < bytes; sent += PIECE)
        if (rank == 0)
            MPI_Send(out, PIECE, MPI_CHAR, 1, 0, MPI_COMM_WORLD);
        else if (rank == 1)
            MPI_Recv(in, PIECE, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void pingpong(int bytes)
{
    for (int i = 0; i < TIMES; i++)
        if (rank == 0) {
            MPI_Send(out, bytes, MPI_CHAR, 1, 0, MPI_COMM_WORLD);
            MPI_Recv(in, bytes, MPI_CHAR, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else if (rank == 1) {
            MPI_Recv(in, bytes, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Send(out, bytes, MPI_CHAR, 0, 0, MPI_COMM_WORLD);
        }
}

static void halo(int bytes)
{
    int left = (rank + size - 1) % size, right = (rank + 1) % size;

    for (int i = 0; i < TIMES; i++) {
        MPI_Request r[4];

        MPI_Irecv(in, bytes, MPI_CHAR, left, 0, MPI_COMM_WORLD, &r[0]);
        MPI_Irecv(in + bytes, bytes, MPI_CHAR, right, 1, MPI_COMM_WORLD, &r[1]);
        MPI_Isend(out, bytes, MPI_CHAR, right, 0, MPI_COMM_WORLD, &r[2]);
        MPI_Isend(out, bytes, MPI_CHAR, left, 1, MPI_COMM_WORLD, &r[3]);
        for (int k = 0; k < 4; k++)
            MPI_Wait(&r[k], MPI_STATUS_IGNORE);
    }
}

static void alltoall(int bytes)
{
    MPI_Alltoall(out, bytes, MPI_CHAR, in, bytes, MPI_CHAR, MPI_COMM_WORLD);
}

static const struct {
    const char *name;
    void (*run)(int bytes);
} patterns[] = {{"stream", stream}, {"pingpong", pingpong}, {"halo", halo}, {"alltoall", alltoall}};

int main(int argc, char **argv)
{
    void (*run)(int) = NULL;
    int bytes;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (size_t i = 0; argc > 2 && i < sizeof patterns / sizeof patterns[0]; i++)
        if (strcmp(patterns[i].name, argv[1]) == 0)
            run = patterns[i].run;
    bytes = argc > 2 ? atoi(argv[2]) : 0;
    if (!run || bytes <= 0 || size < 2) {
        fprintf(stderr,
                "usage: patterns stream|pingpong|halo|alltoall BYTES, with two ranks or more\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    out = calloc((size_t)bytes * (size_t)size + PIECE, 1);
    in = calloc((size_t)bytes * (size_t)size + PIECE, 1);
    for (int round = 0; round <= ROUNDS; round++) {
        double start, took, most;

        MPI_Barrier(MPI_COMM_WORLD);
        start = MPI_Wtime();
        run(bytes);
        took = MPI_Wtime() - start;
        MPI_Reduce(&took, &most, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
        if (rank == 0 && round > 0)
            printf("%.9f\n", most);
    }
    free(out);
    free(in);
    MPI_Finalize();
    return 0;
}
