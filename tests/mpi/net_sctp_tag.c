/* test: n=2,4 native=4 schedules=5 measured=no run="--set net.model=packet,net.packet.transport=sctp,net.packet.streams=tag,net.latency=10us,net.bandwidth=1Gbps,net.packet.error_rate=0.03,net.packet.min_rto=5ms,nodes.ranks=1"
 * A stream of SCTP for each tag, on links that lose packets: messages with the same tag come in
 * order, beside windows, collectives and long messages that use the same associations. */
#include "check.h"

enum { TAGS = 3, MESSAGES = 20, LENGTH = 3000, LONG = 50000 };

static int rank, size;

/* Sends to the next rank and receives from the one before it, tag by tag. */
static void messages(int length)
{
    static int out[MESSAGES * TAGS][LONG / 4], in[LONG / 4];
    int next = (rank + 1) % size, before = (rank + size - 1) % size;
    MPI_Request sent[MESSAGES * TAGS];

    for (int i = 0; i < MESSAGES * TAGS; i++) {
        out[i][0] = out[i][length / 4 - 1] = rank * 1000 + i;
        MPI_Isend(out[i], length / 4, MPI_INT, next, i % TAGS, MPI_COMM_WORLD, &sent[i]);
    }
    for (int tag = TAGS - 1; tag >= 0; tag--)
        for (int i = 0; i < MESSAGES; i++) {
            MPI_Recv(in, length / 4, MPI_INT, before, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            CHECK(in[0] == before * 1000 + i * TAGS + tag && in[length / 4 - 1] == in[0]);
        }
    MPI_Waitall(MESSAGES * TAGS, sent, MPI_STATUSES_IGNORE);
}

/* What is put is there behind the fence, however many packets were lost. */
static void windows(void)
{
    static int data[LENGTH / 4], mine[LENGTH / 4];
    int next = (rank + 1) % size, before = (rank + size - 1) % size, sum = 0;
    MPI_Win win;

    MPI_Win_create(data, sizeof data, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    for (int k = 0; k < 10; k++) {
        mine[0] = mine[LENGTH / 4 - 1] = 100 * rank + k;
        MPI_Win_fence(0, win);
        MPI_Put(mine, LENGTH / 4, MPI_INT, next, 0, LENGTH / 4, MPI_INT, win);
        MPI_Win_fence(0, win);
        CHECK(data[0] == 100 * before + k && data[LENGTH / 4 - 1] == data[0]);
        MPI_Allreduce(&k, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        CHECK(sum == k * size);
    }
    MPI_Win_free(&win);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    messages(LENGTH);
    windows();
    messages(LONG);
    check_ok("streams");
    MPI_Finalize();
    return 0;
}
