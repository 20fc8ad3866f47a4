/* test: n=1,2,5,16 native=4 measured=no
 * Probe, Iprobe in a loop, Mprobe and Improbe from any source see messages in order of arrival,
 * and an Iprobe sees nothing before its time. */
#include "decide.h"

static int rank, size, polls;

static int probe(MPI_Status *status)
{
    MPI_Probe(MPI_ANY_SOURCE, DECIDE_TAG, MPI_COMM_WORLD, status);
    return status->MPI_SOURCE;
}

static int iprobe(MPI_Status *status)
{
    int flag = 0;
    for (; !flag; polls++)
        MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, status);
    return status->MPI_SOURCE;
}

static void probed(int (*look)(MPI_Status *))
{
    int data[2];
    MPI_Status status;
    for (int k = 0; k < size - 1; k++) {
        int source = look(&status);
        MPI_Recv(data, 2, MPI_INT, source, status.MPI_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        decide_verify(data, source, k, size);
    }
}

static void matched(int blocking)
{
    int data[2], flag;
    MPI_Status status;
    MPI_Message message;
    for (int k = 0; k < size - 1; k++) {
        flag = blocking;
        if (blocking)
            MPI_Mprobe(MPI_ANY_SOURCE, DECIDE_TAG, MPI_COMM_WORLD, &message, &status);
        for (; !flag; polls++)
            MPI_Improbe(MPI_ANY_SOURCE, DECIDE_TAG, MPI_COMM_WORLD, &flag, &message, &status);
        MPI_Mrecv(data, 2, MPI_INT, &message, MPI_STATUS_IGNORE);
        decide_verify(data, status.MPI_SOURCE, k, size);
    }
}

/* At 5 ms nobody has sent; at 1 s all have, and the first in order of arrival shows. */
static void timed(void)
{
    int data[2], flag = -1;
    MPI_Status status;
    check_spend(0.005);
    MPI_Iprobe(MPI_ANY_SOURCE, DECIDE_TAG, MPI_COMM_WORLD, &flag, &status);
    CHECK(!check_virtual() || !flag);
    check_spend(1.0);
    MPI_Iprobe(size - 1, DECIDE_TAG, MPI_COMM_WORLD, &flag, &status);
    CHECK(!check_virtual() || flag == (size > 1));
    for (int k = 0; k < size - 1; k++) {
        MPI_Recv(data, 2, MPI_INT, MPI_ANY_SOURCE, DECIDE_TAG, MPI_COMM_WORLD, &status);
        decide_verify(data, status.MPI_SOURCE, k, size);
    }
}

int main(int argc, char **argv)
{
    static const char *const names[] = {"probe", "iprobe", "mprobe", "improbe", "timed"};
    MPI_Init(&argc, &argv);
    rank = check_rank();
    size = check_size();
    for (int i = 0; i < 5; i++) {
        if (rank > 0)
            decide_send(rank, size);
        else if (i < 2)
            probed(i ? iprobe : probe);
        else if (i < 4)
            matched(i == 2);
        else
            timed();
        check_ok(names[i]);
    }
    if (rank == 0 && check_virtual())
        printf("virtual: %d polls\n", polls);
    MPI_Finalize();
    return 0;
}
