/* Calls of all kinds, to check their records in a trace. */
#include <mpi.h>
#include <orrery.h>
#include <stdio.h>
#include <stdlib.h>

static int rank, size;

static void messages(MPI_Comm comm)
{
    int in[3] = {0}, out = rank, flag, index, count, peer = rank ^ 1;
    MPI_Request requests[3];
    MPI_Status status;
    MPI_Message message;
    if (rank == 0) {
        MPI_Irecv(&in[0], 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &requests[0]);
        MPI_Irecv(&in[1], 1, MPI_INT, peer, 9, comm, &requests[1]);
        MPI_Test(&requests[1], &flag, MPI_STATUS_IGNORE);
        MPI_Waitany(2, requests, &index, MPI_STATUS_IGNORE);
        MPI_Cancel(&requests[1]);
        MPI_Wait(&requests[1], &status);
        MPI_Recv_init(&in[2], 1, MPI_INT, peer, 3, comm, &requests[2]);
        for (int i = 0; i < 2; i++) {
            MPI_Start(&requests[2]);
            MPI_Waitsome(1, &requests[2], &count, &index, &status);
        }
        MPI_Request_free(&requests[2]);
        MPI_Mprobe(peer, MPI_ANY_TAG, comm, &message, MPI_STATUS_IGNORE);
        MPI_Mrecv(&in[0], 1, MPI_INT, &message, MPI_STATUS_IGNORE);
        MPI_Recv(&in[0], 3, MPI_INT, MPI_ANY_SOURCE, 5, comm, MPI_STATUS_IGNORE);
    } else if (rank == 1) {
        MPI_Send(&out, 1, MPI_INT, peer, 7, comm);
        MPI_Send(&out, 1, MPI_INT, peer, 3, comm);
        MPI_Ssend(&out, 1, MPI_INT, peer, 3, comm);
        MPI_Send(&out, 1, MPI_INT, peer, 4, comm);
        MPI_Send(&out, 1, MPI_INT, peer, 5, comm);
        MPI_Send(&out, 1, MPI_INT, MPI_PROC_NULL, 5, comm);
    }
}

static void collectives(MPI_Comm comm)
{
    int one = rank, *all = malloc((size_t)size * 4 * sizeof *all), *counts = all + size,
        *starts = counts + size;
    MPI_Request request;
    for (int i = 0; i < size; i++)
        counts[i] = 1, starts[i] = i;
    MPI_Gatherv(&one, 1, MPI_INT, all, rank == 1 ? counts : (int *)8, rank == 1 ? starts : NULL,
                MPI_INT, 1, comm);
    MPI_Alltoallv(MPI_IN_PLACE, NULL, NULL, MPI_DATATYPE_NULL, all, counts, starts, MPI_INT, comm);
    MPI_Iallreduce(MPI_IN_PLACE, &one, 1, MPI_INT, MPI_MAX, comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    free(all);
}

static void objects(void)
{
    MPI_Comm half, both, copy;
    MPI_Datatype column;
    MPI_Group group, pair;
    MPI_Win win;
    int window[4] = {0}, members[2] = {0, 1};
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, 0, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 1, &both);
    MPI_Comm_dup(half, &copy);
    MPI_Barrier(copy);
    MPI_Barrier(both);
    MPI_Type_vector(2, 1, 4, MPI_DOUBLE, &column);
    MPI_Type_commit(&column);
    MPI_Sendrecv(NULL, 0, column, rank, 1, NULL, 0, column, rank, 1, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    MPI_Type_free(&column);
    MPI_Comm_group(MPI_COMM_WORLD, &group);
    MPI_Group_incl(group, 2, members, &pair);
    MPI_Win_create(window, sizeof window, sizeof window[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_fence(0, win);
    MPI_Put(&rank, 1, MPI_INT, (rank + 1) % size, 2, 1, MPI_INT, win);
    MPI_Win_fence(0, win);
    if (rank < 2) {
        MPI_Win_post(pair, 0, win);
        MPI_Win_start(pair, 0, win);
        MPI_Win_complete(win);
        MPI_Win_wait(win);
    }
    MPI_Win_free(&win);
    MPI_Group_free(&pair);
    MPI_Group_free(&group);
    MPI_Comm_free(&copy);
    MPI_Comm_free(&both);
    MPI_Comm_free(&half);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (orrery_region("talk"))
        messages(MPI_COMM_WORLD);
    orrery_region_end();
    collectives(MPI_COMM_WORLD);
    objects();
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Send(&rank, 1, MPI_INT, size + 7, 0, MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
