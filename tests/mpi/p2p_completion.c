/* test: n=1,2,5,16,300 native=4
 * Wait and Test in all forms, null and inactive requests, persistent requests, Request_free,
 * Cancel of receives, Request_get_status. */
#include "check.h"

enum { COUNT = 8 };

static int rank, size, right, left;
static int in[COUNT], out[COUNT];

static void start(MPI_Request *receives, MPI_Request *sends)
{
    for (int i = 0; i < COUNT; i++) {
        in[i] = -1;
        out[i] = rank * 100 + i;
        MPI_Irecv(&in[i], 1, MPI_INT, left, i, MPI_COMM_WORLD, &receives[i]);
    }
    for (int i = COUNT - 1; i >= 0; i--)
        MPI_Isend(&out[i], 1, MPI_INT, right, i, MPI_COMM_WORLD, &sends[i]);
}

static void verify(int i, const MPI_Status *status)
{
    CHECK(in[i] == left * 100 + i && status->MPI_SOURCE == left && status->MPI_TAG == i);
}

static void wait_any(int test)
{
    MPI_Request receives[COUNT], sends[COUNT];
    MPI_Status status;
    int seen = 0, index, flag;
    start(receives, sends);
    for (int k = 0; k < COUNT; k++) {
        flag = !test;
        if (!test)
            MPI_Waitany(COUNT, receives, &index, &status);
        while (!flag)
            MPI_Testany(COUNT, receives, &index, &flag, &status);
        CHECK(index >= 0 && index < COUNT && receives[index] == MPI_REQUEST_NULL);
        CHECK(!(seen & 1 << index));
        seen |= 1 << index;
        verify(index, &status);
    }
    if (test)
        MPI_Testany(COUNT, receives, &index, &flag, &status);
    else
        MPI_Waitany(COUNT, receives, &index, &status);
    CHECK(index == MPI_UNDEFINED && flag);
    MPI_Waitall(COUNT, sends, MPI_STATUSES_IGNORE);
}

static void wait_some(int test)
{
    MPI_Request receives[COUNT], sends[COUNT];
    MPI_Status statuses[COUNT];
    int seen = 0, done, indices[COUNT];
    start(receives, sends);
    while (seen != (1 << COUNT) - 1) {
        if (test)
            MPI_Testsome(COUNT, receives, &done, indices, statuses);
        else
            MPI_Waitsome(COUNT, receives, &done, indices, statuses);
        CHECK(test ? done >= 0 : done > 0);
        for (int k = 0; k < done; k++) {
            verify(indices[k], &statuses[k]);
            CHECK(!(seen & 1 << indices[k]));
            seen |= 1 << indices[k];
        }
    }
    MPI_Waitsome(COUNT, receives, &done, indices, statuses);
    CHECK(done == MPI_UNDEFINED);
    MPI_Waitall(COUNT, sends, MPI_STATUSES_IGNORE);
}

static void wait_all(int test)
{
    MPI_Request requests[2 * COUNT];
    MPI_Status statuses[2 * COUNT];
    int flag = !test;
    start(requests, requests + COUNT);
    if (!test)
        MPI_Waitall(2 * COUNT, requests, statuses);
    while (!flag)
        MPI_Testall(2 * COUNT, requests, &flag, statuses);
    for (int i = 0; i < COUNT; i++) {
        verify(i, &statuses[i]);
        CHECK(requests[i] == MPI_REQUEST_NULL && requests[COUNT + i] == MPI_REQUEST_NULL);
    }
    MPI_Testall(2 * COUNT, requests, &flag, MPI_STATUSES_IGNORE);
    CHECK(flag);
}

static void wait_one(int test)
{
    MPI_Request receives[COUNT], sends[COUNT];
    MPI_Status status;
    start(receives, sends);
    for (int i = 0; i < COUNT; i++) {
        int flag = 0;
        while (test && !flag) {
            MPI_Request_get_status(receives[i], &flag, &status);
            CHECK(receives[i] != MPI_REQUEST_NULL);
        }
        MPI_Wait(&receives[i], &status);
        verify(i, &status);
        flag = 0;
        while (!flag)
            MPI_Test(&sends[i], &flag, MPI_STATUS_IGNORE);
    }
    MPI_Request none = MPI_REQUEST_NULL;
    int count = -1;
    MPI_Wait(&none, &status);
    MPI_Get_count(&status, MPI_INT, &count);
    CHECK(status.MPI_SOURCE == MPI_ANY_SOURCE && status.MPI_TAG == MPI_ANY_TAG && count == 0);
}

static void persistent(void)
{
    MPI_Request requests[2];
    MPI_Status statuses[2];
    int value = -1, got = -1, flag = 0;
    MPI_Recv_init(&got, 1, MPI_INT, left, 40, MPI_COMM_WORLD, &requests[0]);
    MPI_Send_init(&value, 1, MPI_INT, right, 40, MPI_COMM_WORLD, &requests[1]);
    MPI_Test(&requests[0], &flag, &statuses[0]);
    CHECK(flag && statuses[0].MPI_SOURCE == MPI_ANY_SOURCE);
    for (int i = 0; i < 10; i++) {
        value = rank * 1000 + i;
        MPI_Startall(2, requests);
        MPI_Waitall(2, requests, statuses);
        CHECK(got == left * 1000 + i && statuses[0].MPI_SOURCE == left);
        CHECK(requests[0] != MPI_REQUEST_NULL && requests[1] != MPI_REQUEST_NULL);
    }
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
    CHECK(requests[0] == MPI_REQUEST_NULL);
}

static void freed_and_cancelled(void)
{
    MPI_Request request;
    MPI_Status status;
    int got = -1, unused = -1, cancelled = 0;
    MPI_Irecv(&unused, 1, MPI_INT, left, 999, MPI_COMM_WORLD, &request);
    MPI_Cancel(&request);
    MPI_Wait(&request, &status);
    MPI_Test_cancelled(&status, &cancelled);
    CHECK(cancelled && unused == -1);
    MPI_Isend(&rank, 1, MPI_INT, right, 41, MPI_COMM_WORLD, &request);
    MPI_Request_free(&request);
    CHECK(request == MPI_REQUEST_NULL);
    MPI_Irecv(&got, 1, MPI_INT, MPI_ANY_SOURCE, 41, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, &status);
    MPI_Test_cancelled(&status, &cancelled);
    CHECK(got == left && !cancelled);
    /* A cancelled receive must not take a message sent later. */
    MPI_Irecv(&unused, 1, MPI_INT, left, 42, MPI_COMM_WORLD, &request);
    MPI_Cancel(&request);
    MPI_Request_free(&request);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Sendrecv(&rank, 1, MPI_INT, right, 42, &got, 1, MPI_INT, left, 42, MPI_COMM_WORLD, &status);
    CHECK(got == left && unused == -1);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    rank = check_rank();
    size = check_size();
    right = (rank + 1) % size;
    left = (rank + size - 1) % size;
    for (int test = 0; test < 2; test++) {
        wait_any(test);
        check_ok(test ? "test any" : "wait any");
        wait_some(test);
        check_ok(test ? "test some" : "wait some");
        wait_all(test);
        check_ok(test ? "test all" : "wait all");
        wait_one(test);
        check_ok(test ? "get status" : "wait");
    }
    persistent();
    check_ok("persistent");
    freed_and_cancelled();
    check_ok("free and cancel");
    MPI_Finalize();
    return 0;
}
