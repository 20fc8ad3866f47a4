/* test: n=2,5
 * Partitioned communication: different numbers of partitions on both sides, small and large ones,
 * partitions made ready in any order, repeated starts, several channels with one tag, derived
 * types; MPI_Parrived sees each partition in its time. */
#include "check.h"

enum { STARTS = 3 };
static int rank, size, next, prev;

/* Value of item i in a start. */
static int item(int sender, int start, int i)
{
    return sender * 1000003 + start * 101 + i;
}

/* send_parts partitions of n / send_parts items each, received as recv_parts. */
static void ring(int n, int send_parts, int recv_parts)
{
    int *out = malloc((size_t)n * sizeof *out), *in = malloc((size_t)n * sizeof *in);
    int each = n / send_parts;
    MPI_Request request[2];
    MPI_Status status[2];

    MPI_Precv_init(in, recv_parts, n / recv_parts, MPI_INT, prev, 9, MPI_COMM_WORLD, MPI_INFO_NULL,
                   &request[0]);
    MPI_Psend_init(out, send_parts, each, MPI_INT, next, 9, MPI_COMM_WORLD, MPI_INFO_NULL,
                   &request[1]);
    for (int start = 0; start < STARTS; start++) {
        memset(in, 0, (size_t)n * sizeof *in);
        MPI_Startall(2, request);
        for (int p = send_parts - 1; p >= 0; p--) {
            for (int i = p * each; i < (p + 1) * each; i++)
                out[i] = item(rank, start, i);
            MPI_Pready(p, request[1]);
        }
        if (start == 1) {
            for (int p = 0; p < recv_parts; p++)
                for (int arrived = 0; !arrived;)
                    MPI_Parrived(request[0], p, &arrived);
            for (int i = 0; i < n; i++)
                CHECK(in[i] == item(prev, start, i));
        }
        MPI_Waitall(2, request, status);
        CHECK(request[0] != MPI_REQUEST_NULL && status[0].MPI_ERROR == MPI_SUCCESS);
        for (int i = 0; i < n; i++)
            CHECK(in[i] == item(prev, start, i));
    }
    MPI_Request_free(&request[0]);
    MPI_Request_free(&request[1]);
    free(out);
    free(in);
}

/* Channels with the same tag are matched in the order of their init calls, whatever is started
 * first. */
static void channels(void)
{
    int out[3] = {rank, rank + 100, rank + 200}, in[3] = {-1, -1, -1}, list[1] = {0};
    MPI_Request send[3], recv[3];

    for (int k = 0; k < 3; k++)
        MPI_Psend_init(&out[k], 1, 1, MPI_INT, next, 4, MPI_COMM_WORLD, MPI_INFO_NULL, &send[k]);
    for (int k = 0; k < 3; k++)
        MPI_Precv_init(&in[k], 1, 1, MPI_INT, prev, 4, MPI_COMM_WORLD, MPI_INFO_NULL, &recv[k]);
    for (int k = 2; k >= 0; k--) {
        MPI_Start(&send[k]);
        MPI_Pready_list(1, list, send[k]);
    }
    MPI_Startall(3, recv);
    MPI_Waitall(3, recv, MPI_STATUSES_IGNORE);
    MPI_Waitall(3, send, MPI_STATUSES_IGNORE);
    for (int k = 0; k < 3; k++) {
        CHECK(in[k] == prev + 100 * k);
        MPI_Request_free(&send[k]);
        MPI_Request_free(&recv[k]);
    }
}

static void strided(void)
{
    MPI_Datatype every_second;
    int out[16], in[32];
    MPI_Request request[2];

    MPI_Type_vector(2, 1, 2, MPI_INT, &every_second);
    MPI_Type_create_resized(every_second, 0, 4 * sizeof(int), &every_second);
    MPI_Type_commit(&every_second);
    memset(in, -1, sizeof in);
    for (int i = 0; i < 16; i++)
        out[i] = rank * 50 + i;
    MPI_Psend_init(out, 4, 4, MPI_INT, next, 5, MPI_COMM_WORLD, MPI_INFO_NULL, &request[0]);
    MPI_Precv_init(in, 2, 4, every_second, prev, 5, MPI_COMM_WORLD, MPI_INFO_NULL, &request[1]);
    MPI_Startall(2, request);
    MPI_Pready_range(0, 3, request[0]);
    MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
    for (int i = 0; i < 32; i++)
        CHECK(in[i] == (i % 2 ? -1 : prev * 50 + i / 2));
    MPI_Request_free(&request[0]);
    MPI_Request_free(&request[1]);
    MPI_Type_free(&every_second);
}

/* A partition arrives in its own time, long before the whole message. */
static void early(void)
{
    int out[2] = {1, 2}, in[2] = {0, 0}, first = 0, second = 1;
    MPI_Request request;

    if (rank == 0) {
        MPI_Psend_init(out, 2, 1, MPI_INT, 1, 6, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
        MPI_Start(&request);
        MPI_Pready(0, request);
        check_spend(1.0);
        MPI_Pready(1, request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Request_free(&request);
    } else if (rank == 1) {
        MPI_Precv_init(in, 2, 1, MPI_INT, 0, 6, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
        MPI_Start(&request);
        while (!first)
            MPI_Parrived(request, 0, &first);
        CHECK(in[0] == 1);
        if (check_virtual()) {
            MPI_Parrived(request, 1, &second);
            CHECK(!second && MPI_Wtime() < 0.9);
        }
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        CHECK(in[1] == 2);
        MPI_Request_free(&request);
    }
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    rank = check_rank();
    size = check_size();
    next = (rank + 1) % size;
    prev = (rank + size - 1) % size;
    early();
    ring(12, 3, 3);
    ring(12, 1, 6);
    ring(12, 6, 2);
    ring(60000, 3, 2);
    channels();
    strided();
    check_ok("partitioned");
    MPI_Finalize();
    return 0;
}
