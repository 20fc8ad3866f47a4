/*
 * Rank 1 polls until something has arrived from rank 0, by calls that are rarely used for it. How
 * often depends on the network, so a replay of compute times must allow for it.
 */
#include <mpi.h>
#include <stdio.h>

static void partitioned(int rank, int *value)
{
    MPI_Request request;
    int there = 0;

    if (rank == 0) {
        MPI_Psend_init(value, 1, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
        MPI_Start(&request);
        MPI_Pready(0, request);
    } else {
        MPI_Precv_init(value, 1, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
        MPI_Start(&request);
        while (!there)
            MPI_Parrived(request, 0, &there);
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Request_free(&request);
}

static void window(int rank, int *value)
{
    MPI_Group all, other;
    MPI_Win win;
    int peer = 1 - rank, done = 0;

    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_incl(all, 1, &peer, &other);
    MPI_Win_create(value, sizeof *value, sizeof *value, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    if (rank == 0) {
        MPI_Win_start(other, 0, win);
        MPI_Put(value, 1, MPI_INT, 1, 0, 1, MPI_INT, win);
        MPI_Win_complete(win);
    } else {
        MPI_Win_post(other, 0, win);
        while (!done)
            MPI_Win_test(win, &done);
    }
    MPI_Win_free(&win);
    MPI_Group_free(&other);
    MPI_Group_free(&all);
}

int main(int argc, char **argv)
{
    int rank, value;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    value = rank == 0 ? 42 : 0;
    partitioned(rank, &value);
    window(rank, &value);
    if (rank == 1)
        printf("got %d\n", value);
    MPI_Finalize();
    return 0;
}
