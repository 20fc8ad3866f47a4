/* test: n=1,2,5,16 native=4
 * Sendrecv_replace, messages to self, MPI_PROC_NULL, truncation, buffered sends, statuses. */
#include "check.h"

static int rank, size, right, left;

static void replace(void)
{
    static const int lengths[] = {0, 1, 1000, 40000};
    int *data = (int *)malloc(40000 * sizeof(int));
    MPI_Status status;
    for (int k = 0; k < 4; k++) {
        for (int i = 0; i < lengths[k]; i++)
            data[i] = rank * 7 + i;
        MPI_Sendrecv_replace(data, lengths[k], MPI_INT, right, k, left, k, MPI_COMM_WORLD, &status);
        for (int i = 0; i < lengths[k]; i++)
            CHECK(data[i] == left * 7 + i);
        CHECK(status.MPI_SOURCE == left && status.MPI_TAG == k);
    }
    free(data);
}

static void self(void)
{
    int out[100], in[100], count = 0;
    MPI_Request requests[3];
    MPI_Status status;
    for (int i = 0; i < 100; i++)
        out[i] = rank + i;
    MPI_Sendrecv(out, 100, MPI_INT, rank, 1, in, 100, MPI_INT, rank, 1, MPI_COMM_WORLD, &status);
    CHECK(memcmp(in, out, sizeof in) == 0 && status.MPI_SOURCE == rank);
    MPI_Isend(out, 50, MPI_INT, 0, 2, MPI_COMM_SELF, &requests[0]);
    MPI_Issend(out + 50, 50, MPI_INT, 0, 3, MPI_COMM_SELF, &requests[1]);
    MPI_Irecv(in, 50, MPI_INT, 0, 3, MPI_COMM_SELF, &requests[2]);
    MPI_Recv(in + 50, 50, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_SELF, &status);
    MPI_Get_count(&status, MPI_INT, &count);
    CHECK(status.MPI_TAG == 2 && count == 50);
    MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
    CHECK(memcmp(in, out + 50, 200) == 0 && memcmp(in + 50, out, 200) == 0);
}

static void null_process(void)
{
    int data = 17, count = -1, flag = 0;
    MPI_Request request;
    MPI_Status status;
    MPI_Send(&data, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD);
    MPI_Ssend(&data, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD);
    MPI_Recv(&data, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &status);
    MPI_Get_count(&status, MPI_INT, &count);
    CHECK(data == 17 && count == 0);
    CHECK(status.MPI_SOURCE == MPI_PROC_NULL && status.MPI_TAG == MPI_ANY_TAG);
    MPI_Irecv(&data, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &request);
    MPI_Test(&request, &flag, &status);
    /* MPICH 4.0 leaves the source of this status unset. */
    CHECK(flag && data == 17 && (!check_virtual() || status.MPI_SOURCE == MPI_PROC_NULL));
    /* A line of ranks: the ends talk to nobody. */
    int before = rank > 0 ? rank - 1 : MPI_PROC_NULL, from = -5;
    int after = rank < size - 1 ? rank + 1 : MPI_PROC_NULL;
    MPI_Sendrecv(&rank, 1, MPI_INT, after, 2, &from, 1, MPI_INT, before, 2, MPI_COMM_WORLD,
                 &status);
    CHECK(from == (rank > 0 ? rank - 1 : -5) && status.MPI_SOURCE == before);
}

static void truncated(int length)
{
    int *out = (int *)calloc((size_t)length, sizeof(int));
    int in[5] = {9, 9, 9, 9, 9}, error_class = -1;
    MPI_Request request;
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    MPI_Isend(out, length, MPI_INT, right, 1, comm, &request);
    int error = MPI_Recv(in, 4, MPI_INT, left, 1, comm, MPI_STATUS_IGNORE);
    MPI_Error_class(error, &error_class);
    CHECK(error_class == MPI_ERR_TRUNCATE && in[4] == 9);
    /* A large send may fail too, at the other end of the same mistake. */
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Comm_free(&comm);
    free(out);
}

static void buffered(void)
{
    enum { COUNT = 20, EACH = 250 };
    int space = COUNT * (EACH * (int)sizeof(int) + MPI_BSEND_OVERHEAD), data[EACH];
    void *buffer = malloc((size_t)space);
    for (int round = 0; round < 3; round++) {
        MPI_Buffer_attach(buffer, space);
        for (int k = 0; k < COUNT; k++) {
            for (int i = 0; i < EACH; i++)
                data[i] = rank + k * i + round;
            MPI_Bsend(data, EACH, MPI_INT, right, k, MPI_COMM_WORLD);
        }
        for (int k = COUNT - 1; k >= 0; k--) {
            MPI_Recv(data, EACH, MPI_INT, left, k, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            for (int i = 0; i < EACH; i++)
                CHECK(data[i] == left + k * i + round);
        }
        void *returned;
        int detached;
        MPI_Buffer_detach(&returned, &detached);
        CHECK(returned == buffer && detached == space);
    }
    free(buffer);
}

static void short_message(void)
{
    double in[10];
    char bytes[12] = {0};
    int count = -1;
    MPI_Status status;
    for (int i = 0; i < 10; i++)
        in[i] = -1;
    MPI_Sendrecv(bytes, 12, MPI_CHAR, right, 1, in, 80, MPI_CHAR, left, 1, MPI_COMM_WORLD, &status);
    MPI_Get_count(&status, MPI_DOUBLE, &count);
    CHECK(count == MPI_UNDEFINED && in[2] == -1);
    MPI_Get_count(&status, MPI_INT, &count);
    CHECK(count == 3);
    MPI_Get_elements(&status, MPI_INT, &count);
    CHECK(count == 3);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    rank = check_rank();
    size = check_size();
    right = (rank + 1) % size;
    left = (rank + size - 1) % size;
    replace();
    check_ok("replace");
    self();
    check_ok("self");
    null_process();
    check_ok("null process");
    truncated(5);
    check_ok("truncated");
    buffered();
    check_ok("buffered");
    short_message();
    check_ok("short message");
    MPI_Finalize();
    return 0;
}
