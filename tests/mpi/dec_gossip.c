/* test: n=2,5,16,300 native=4 measured=no
 * All ranks send to all sorts of ranks and receive from anybody, by every call whose outcome
 * depends on time: many decisions of many ranks at once, with ties. Natively nothing may be lost
 * and no sender's messages may change order; in virtual time all that happened is one printed
 * number. */
#include "check.h"

enum { MESSAGES = 24, LARGE = 20000 };

static int rank, size;
static unsigned long history = 14695981039346656037ul;
static int *next_of;

static int target(int from, int k)
{
    return (int)((unsigned)(from * 31 + k * k * 17 + k * 5) % (unsigned)size);
}

static int length(int from, int k)
{
    return (from + k) % 5 == 0 ? LARGE : 2 + k % 3;
}

static void note(unsigned long value)
{
    history = (history ^ value) * 1099511628211ul;
}

/* Notes one message: from whom, which, and when, to the nanosecond. */
static void received(const int *data, const MPI_Status *status)
{
    int count, source = status->MPI_SOURCE;
    MPI_Get_count(status, MPI_INT, &count);
    CHECK(data[0] == source && target(source, data[1]) == rank && count == length(source, data[1]));
    CHECK(data[1] >= next_of[source]);
    next_of[source] = data[1] + 1;
    note((unsigned long)source);
    note((unsigned long)data[1]);
    note((unsigned long)(MPI_Wtime() * 1e9 + 0.5));
}

static void receive_by_test(int *data, MPI_Status *status)
{
    MPI_Request request;
    int flag = 0;
    MPI_Irecv(data, LARGE, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &request);
    while (!flag)
        MPI_Test(&request, &flag, status);
}

static void receive_by_probe(int *data, MPI_Status *status)
{
    int flag = 0;
    while (!flag)
        MPI_Iprobe(MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &flag, status);
    MPI_Recv(data, LARGE, MPI_INT, status->MPI_SOURCE, 1, MPI_COMM_WORLD, status);
}

static void receive_by_any(int *data, MPI_Status *status)
{
    MPI_Request requests[2];
    int index, unused, cancelled;
    MPI_Irecv(&unused, 1, MPI_INT, MPI_ANY_SOURCE, 99, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(data, LARGE, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitany(2, requests, &index, status);
    CHECK(index == 1);
    MPI_Status other;
    MPI_Cancel(&requests[0]);
    MPI_Wait(&requests[0], &other);
    MPI_Test_cancelled(&other, &cancelled);
    CHECK(cancelled);
}

static void receive_one(int i, int *data)
{
    MPI_Status status;
    if ((rank + i) % 4 == 0)
        MPI_Recv(data, LARGE, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
    else if ((rank + i) % 4 == 1)
        receive_by_test(data, &status);
    else if ((rank + i) % 4 == 2)
        receive_by_probe(data, &status);
    else
        receive_by_any(data, &status);
    received(data, &status);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    rank = check_rank();
    size = check_size();
    MPI_Request requests[MESSAGES];
    int *out = (int *)calloc((size_t)MESSAGES * LARGE, sizeof(int)), expected = 0, done = 0;
    int *in = (int *)calloc(LARGE, sizeof(int));
    next_of = (int *)calloc((size_t)size, sizeof(int));
    for (int r = 0; r < size; r++)
        for (int k = 0; k < MESSAGES; k++)
            expected += target(r, k) == rank;
    for (int k = 0; k < MESSAGES; k++) {
        out[k * LARGE] = rank;
        out[k * LARGE + 1] = k;
        check_spend(1e-5 * ((rank * 7 + k * 3) % 4));
        MPI_Isend(out + k * LARGE, length(rank, k), MPI_INT, target(rank, k), 1, MPI_COMM_WORLD,
                  &requests[k]);
    }
    for (; done < expected; done++)
        receive_one(done, in);
    MPI_Waitall(MESSAGES, requests, MPI_STATUSES_IGNORE);
    unsigned long all = 0;
    MPI_Reduce(&history, &all, 1, MPI_UNSIGNED_LONG, MPI_BXOR, 0, MPI_COMM_WORLD);
    if (rank == 0 && check_virtual())
        printf("virtual: history %lx\n", all);
    check_ok("gossip");
    free(next_of);
    free(in);
    free(out);
    MPI_Finalize();
    return 0;
}
