/*
 * orders.c - programs in which the order of messages matters, for `orrery replay`.
 *
 *     orders answers    rank 0 answers whoever asks first; asking and answering wait for each other
 *     orders polls      rank 0 tests for a message until it is here
 *     orders wild       rank 0 receives from anyone: blocking, non-blocking, after a probe
 *     orders persistent rank 0 receives from anyone by persistent requests
 *     orders truncated  rank 0 receives messages that are longer than its buffers
 *
 * Other ranks compute in region foo first, the longer the higher their rank.
 */
#include <mpi.h>
#include <orrery.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BYTES 100000
#define MS 1e-3

static int rank, size;
static char room[BYTES];

static void foo(void)
{
    orrery_region("foo");
    orrery_compute(MS * rank);
    orrery_region_end();
}

static void answers(void)
{
    MPI_Status status;

    for (int i = 1; rank == 0 && i < size; i++) {
        MPI_Recv(room, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &status);
        MPI_Ssend(room, 1, MPI_INT, status.MPI_SOURCE, 1, MPI_COMM_WORLD);
    }
    if (rank == 0)
        return;
    foo();
    MPI_Ssend(room, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
    MPI_Recv(room, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void polls(void)
{
    MPI_Request request;

    if (rank > 1)
        return;
    if (rank == 1) {
        foo();
        MPI_Send(room, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
        return;
    }
    MPI_Irecv(room, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, &request);
    for (int is_here = 0; !is_here;) {
        orrery_compute(0.1 * MS);
        orrery_region("look");
        MPI_Test(&request, &is_here, MPI_STATUS_IGNORE);
        orrery_region_end();
    }
}

static void wild(void)
{
    MPI_Request *requests = malloc((size_t)size * sizeof *requests);

    for (int round = 0; round < 3; round++) {
        MPI_Status status;

        if (rank > 0) {
            foo();
            MPI_Send(room, 10 * rank, MPI_BYTE, 0, round, MPI_COMM_WORLD);
        }
        for (int i = 1; rank == 0 && round == 0 && i < size; i++)
            MPI_Recv(room, BYTES, MPI_BYTE, MPI_ANY_SOURCE, round, MPI_COMM_WORLD, &status);
        for (int i = 1; rank == 0 && round == 1 && i < size; i++)
            MPI_Irecv(room, BYTES, MPI_BYTE, MPI_ANY_SOURCE, round, MPI_COMM_WORLD,
                      &requests[i - 1]);
        if (rank == 0 && round == 1)
            MPI_Waitall(size - 1, requests, MPI_STATUSES_IGNORE);
        for (int i = 1; rank == 0 && round == 2 && i < size; i++) {
            MPI_Probe(MPI_ANY_SOURCE, round, MPI_COMM_WORLD, &status);
            MPI_Recv(room, BYTES, MPI_BYTE, status.MPI_SOURCE, round, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
    free(requests);
}

/* Two requests for each of the others: started together, and one after the other. */
static void persistent(void)
{
    MPI_Request *requests = malloc(2 * (size_t)size * sizeof *requests);

    for (int i = 0; rank == 0 && i < 2; i++)
        MPI_Recv_init(room, BYTES, MPI_BYTE, MPI_ANY_SOURCE, i ? MPI_ANY_TAG : 0, MPI_COMM_WORLD,
                      &requests[i]);
    for (int round = 0; round < 4; round++) {
        if (rank > 0) {
            foo();
            MPI_Send(room, 10 * rank, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
        }
        for (int i = 1; rank == 0 && i < size; i += 2) {
            if (round % 2) {
                MPI_Startall(2, requests);
            } else {
                MPI_Start(&requests[1]);
                MPI_Start(&requests[0]);
            }
            MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
    for (int i = 0; rank == 0 && i < 2; i++)
        MPI_Request_free(&requests[i]);
    free(requests);
}

/* The messages are large: their sends wait until they are received. */
static void truncated(void)
{
    MPI_Request request;
    int good = 0;

    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (int i = 0; rank > 0 && i < 2; i++)
        MPI_Ssend(room, BYTES, MPI_BYTE, 0, i, MPI_COMM_WORLD);
    for (int i = 1; rank == 0 && i < size; i++) {
        good += MPI_Recv(room, 10, MPI_BYTE, i, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE) !=
                MPI_SUCCESS;
        MPI_Irecv(room, 10, MPI_BYTE, i, 1, MPI_COMM_WORLD, &request);
        good += MPI_Wait(&request, MPI_STATUS_IGNORE) != MPI_SUCCESS;
    }
    if (rank == 0)
        printf("%d of %d messages did not fit\n", good, 2 * (size - 1));
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } modes[] = {{"answers", answers},
                 {"polls", polls},
                 {"wild", wild},
                 {"persistent", persistent},
                 {"truncated", truncated}};

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++)
        if (argc > 1 && strcmp(argv[1], modes[i].name) == 0)
            modes[i].run();
    MPI_Finalize();
    return 0;
}
