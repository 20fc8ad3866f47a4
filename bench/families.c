/*
 * families.c - one call of a family after the other, ROUNDS times on each rank.
 *
 * usage: families WHAT ROUNDS      WHAT: p2p     8 bytes back and forth between ranks 2k and 2k + 1
 *                                        icoll   MPI_Iallreduce of 8 bytes, MPI_Wait
 *                                        put     MPI_Put of 8 bytes to the next rank, MPI_Win_flush
 *                                        file    MPI_File_write_at of 8 bytes
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, size;

static int p2p(long long rounds)
{
    long long out = 0, in = -1;
    int peer = rank ^ 1;

    for (long long i = 0; i < rounds; i++) {
        out = i;
        if (rank & 1)
            MPI_Recv(&in, 1, MPI_LONG_LONG, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(&out, 1, MPI_LONG_LONG, peer, 0, MPI_COMM_WORLD);
        if (!(rank & 1))
            MPI_Recv(&in, 1, MPI_LONG_LONG, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    return in == rounds - 1;
}

static int icoll(long long rounds)
{
    long long sum = 0;

    for (long long i = 0; i < rounds; i++) {
        MPI_Request request;

        MPI_Iallreduce(&i, &sum, 1, MPI_LONG_LONG, MPI_SUM, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    return sum == (rounds - 1) * size;
}

static int put(long long rounds)
{
    long long window = -1;
    int to = (rank + 1) % size;
    MPI_Win win;

    MPI_Win_create(&window, sizeof window, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_lock_all(0, win);
    for (long long i = 0; i < rounds; i++) {
        MPI_Put(&i, 1, MPI_LONG_LONG, to, 0, 1, MPI_LONG_LONG, win);
        MPI_Win_flush(to, win);
    }
    MPI_Win_unlock_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_free(&win);
    return window == rounds - 1;
}

static int file(long long rounds)
{
    long long back = -1;
    MPI_File f;

    MPI_File_open(MPI_COMM_WORLD, "families.data",
                  MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &f);
    for (long long i = 0; i < rounds; i++)
        MPI_File_write_at(f, rank * 8, &i, 1, MPI_LONG_LONG, MPI_STATUS_IGNORE);
    MPI_File_read_at(f, rank * 8, &back, 1, MPI_LONG_LONG, MPI_STATUS_IGNORE);
    MPI_File_close(&f);
    return back == rounds - 1;
}

static const struct {
    const char *name;
    int (*run)(long long rounds);
} families[] = {{"p2p", p2p}, {"icoll", icoll}, {"put", put}, {"file", file}};

int main(int argc, char **argv)
{
    int good = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (size_t i = 0; argc == 3 && i < sizeof families / sizeof *families; i++)
        if (strcmp(families[i].name, argv[1]) == 0)
            good = families[i].run(atoll(argv[2]));
    if (!good)
        fprintf(stderr, "families: rank %d: wrong arguments or result\n", rank);
    MPI_Finalize();
    return !good;
}
