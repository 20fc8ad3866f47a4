/* test: n=1,2,5,16 native=4
 * Probe, Iprobe, Mprobe, Improbe with matched receives. */
#include "check.h"

static int rank, size, right, left;

static void send_to_right(int *data, int count, int tag, MPI_Request *request)
{
    for (int i = 0; i < count; i++)
        data[i] = rank * 10000 + tag + i;
    MPI_Isend(data, count, MPI_INT, right, tag, MPI_COMM_WORLD, request);
}

static void verify(const int *data, int count, int tag)
{
    for (int i = 0; i < count; i++)
        CHECK(data[i] == left * 10000 + tag + i);
}

static void check_status(const MPI_Status *status, int count, int tag)
{
    int got = -1;
    MPI_Get_count(status, MPI_INT, &got);
    CHECK(status->MPI_SOURCE == left && status->MPI_TAG == tag && got == count);
}

static void probe(int count)
{
    int *out = (int *)malloc((size_t)(count + 1) * 4), *in = (int *)malloc((size_t)(count + 1) * 4);
    MPI_Request request;
    MPI_Status status;
    int flag = 0;
    send_to_right(out, count, 5, &request);
    MPI_Probe(MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, &status);
    check_status(&status, count, 5);
    MPI_Iprobe(left, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, &status);
    CHECK(flag);
    check_status(&status, count, 5);
    MPI_Recv(in, count, MPI_INT, status.MPI_SOURCE, status.MPI_TAG, MPI_COMM_WORLD, &status);
    check_status(&status, count, 5);
    verify(in, count, 5);
    MPI_Iprobe(MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    CHECK(!flag);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    free(out);
    free(in);
}

/* A matched message is out of the queue: the next probe sees the one behind it. */
static void matched(int count)
{
    int *out = (int *)malloc((size_t)(count + 1) * 8), *in = (int *)malloc((size_t)(count + 1) * 4);
    MPI_Request requests[2], receive;
    MPI_Message first, second;
    MPI_Status status;
    send_to_right(out, count, 6, &requests[0]);
    send_to_right(out + count, count, 8, &requests[1]);
    MPI_Mprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &first, &status);
    check_status(&status, count, 6);
    int flag = 0;
    while (!flag)
        MPI_Improbe(left, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, &second, &status);
    check_status(&status, count, 8);
    MPI_Imrecv(in, count, MPI_INT, &second, &receive);
    MPI_Wait(&receive, &status);
    check_status(&status, count, 8);
    verify(in, count, 8);
    CHECK(second == MPI_MESSAGE_NULL);
    MPI_Mrecv(in, count, MPI_INT, &first, &status);
    check_status(&status, count, 6);
    verify(in, count, 6);
    CHECK(first == MPI_MESSAGE_NULL);
    MPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, &first, MPI_STATUS_IGNORE);
    CHECK(!flag);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    free(out);
    free(in);
}

static void null_process(void)
{
    MPI_Status status;
    MPI_Message message, again;
    int flag = 0, count = -1;
    MPI_Probe(MPI_PROC_NULL, 1, MPI_COMM_WORLD, &status);
    CHECK(status.MPI_SOURCE == MPI_PROC_NULL && status.MPI_TAG == MPI_ANY_TAG);
    MPI_Improbe(MPI_PROC_NULL, 1, MPI_COMM_WORLD, &flag, &message, &status);
    MPI_Mprobe(MPI_PROC_NULL, 1, MPI_COMM_SELF, &again, &status);
    CHECK(flag && message == MPI_MESSAGE_NO_PROC && again == message);
    for (int i = 0; i < 2; i++) { /* each of them is received */
        MPI_Mrecv(0, 0, MPI_INT, i ? &again : &message, &status);
        MPI_Get_count(&status, MPI_INT, &count);
        CHECK(count == 0 && status.MPI_SOURCE == MPI_PROC_NULL);
    }
    CHECK(message == MPI_MESSAGE_NULL && again == message);
}

int main(int argc, char **argv)
{
    static const int counts[] = {0, 1, 100, 50000};
    MPI_Init(&argc, &argv);
    rank = check_rank();
    size = check_size();
    right = (rank + 1) % size;
    left = (rank + size - 1) % size;
    for (int i = 0; i < 4; i++) {
        probe(counts[i]);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    check_ok("probe");
    for (int i = 0; i < 4; i++) {
        matched(counts[i]);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    check_ok("matched");
    null_process();
    check_ok("null process");
    MPI_Finalize();
    return 0;
}
