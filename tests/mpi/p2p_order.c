/* test: n=1,2,5,16 native=4
 * Messages of one sender do not overtake each other, whatever their sizes and tags; wildcards see
 * them in order; different tags may be received in any order. */
#include "check.h"

enum { COUNT = 24, LARGE = 100000 };

static int rank, size, right, left;
static int *out, *in;

static int length(int i)
{
    return i % 3 == 0 ? LARGE / (int)sizeof(int) : i % 3 == 1 ? 1 : 600;
}

static void send_all(MPI_Request *requests, int base, int different_tags)
{
    for (int i = 0; i < COUNT; i++) {
        out[i * LARGE / 4] = base + i;
        MPI_Isend(out + i * LARGE / 4, length(i), MPI_INT, right, different_tags ? i : 7,
                  MPI_COMM_WORLD, &requests[i]);
    }
}

static void same_tag(int source, int tag)
{
    MPI_Request requests[COUNT];
    MPI_Status status;
    int count;
    send_all(requests, rank * 100, 0);
    for (int i = 0; i < COUNT; i++) {
        MPI_Recv(in, LARGE / 4, MPI_INT, source, tag, MPI_COMM_WORLD, &status);
        MPI_Get_count(&status, MPI_INT, &count);
        CHECK(in[0] == left * 100 + i && count == length(i));
        CHECK(status.MPI_SOURCE == left && status.MPI_TAG == 7);
    }
    MPI_Waitall(COUNT, requests, MPI_STATUSES_IGNORE);
}

static void by_tag(void)
{
    MPI_Request requests[COUNT];
    send_all(requests, rank * 100, 1);
    for (int k = 0; k < COUNT; k++) {
        int i = k * 7 % COUNT;
        MPI_Recv(in, LARGE / 4, MPI_INT, k % 2 ? left : MPI_ANY_SOURCE, i, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
        CHECK(in[0] == left * 100 + i);
    }
    MPI_Waitall(COUNT, requests, MPI_STATUSES_IGNORE);
}

/* Receives posted first, wildcard and exact tags mixed: each message takes the first that fits. */
static void posted(void)
{
    MPI_Request requests[6], sends[6];
    MPI_Status statuses[6];
    static const int posted_tags[6] = {2, MPI_ANY_TAG, 1, MPI_ANY_TAG, 2, 1};
    static const int sent_tags[6] = {1, 2, 2, 1, 1, 2};
    static const int expected[6] = {1, 0, 3, 2, 5, 4};
    int got[6], values[6];
    for (int i = 0; i < 6; i++)
        MPI_Irecv(&got[i], 1, MPI_INT, left, posted_tags[i], MPI_COMM_WORLD, &requests[i]);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < 6; i++) {
        values[i] = i;
        MPI_Isend(&values[i], 1, MPI_INT, right, sent_tags[i], MPI_COMM_WORLD, &sends[i]);
    }
    MPI_Waitall(6, requests, statuses);
    MPI_Waitall(6, sends, MPI_STATUSES_IGNORE);
    for (int i = 0; i < 6; i++)
        CHECK(got[i] == expected[i] && statuses[i].MPI_TAG == sent_tags[got[i]]);
}

/* All to one through a wildcard: order holds per source, and nothing is lost. */
static void fan_in(void)
{
    if (rank > 0) {
        for (int i = 0; i < COUNT; i++) {
            out[0] = i;
            MPI_Send(out, length(i), MPI_INT, 0, 3, MPI_COMM_WORLD);
        }
        return;
    }
    int *next = (int *)calloc((size_t)size, sizeof(int));
    MPI_Status status;
    for (int i = 0; i < (size - 1) * COUNT; i++) {
        MPI_Recv(in, LARGE / 4, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
        CHECK(status.MPI_SOURCE > 0 && in[0] == next[status.MPI_SOURCE]++);
    }
    free(next);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    rank = check_rank();
    size = check_size();
    right = (rank + 1) % size;
    left = (rank + size - 1) % size;
    out = (int *)calloc(COUNT, LARGE);
    in = (int *)calloc(1, LARGE);
    same_tag(left, 7);
    check_ok("named");
    same_tag(left, MPI_ANY_TAG);
    check_ok("any tag");
    same_tag(MPI_ANY_SOURCE, MPI_ANY_TAG);
    check_ok("any source");
    MPI_Barrier(MPI_COMM_WORLD);
    by_tag();
    check_ok("by tag");
    posted();
    check_ok("posted");
    fan_in();
    check_ok("fan in");
    free(out);
    free(in);
    MPI_Finalize();
    return 0;
}
