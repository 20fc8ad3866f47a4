/* test: n=2,5
 * The large-count forms of the sending and receiving calls do what the int forms do; counts beyond
 * an int survive in a status, and the int queries say that they do not fit. */
#include "check.h"

static int rank, size, next, prev;

static void exchange(void)
{
    MPI_Count n = 3;
    long out[3] = {rank, 2 * rank, -1}, in[3];
    MPI_Request request[2];
    MPI_Status status;

    CHECK(MPI_Irecv_c(in, n, MPI_LONG, prev, 1, MPI_COMM_WORLD, &request[0]) == MPI_SUCCESS);
    CHECK(MPI_Isend_c(out, n, MPI_LONG, next, 1, MPI_COMM_WORLD, &request[1]) == MPI_SUCCESS);
    MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
    CHECK(in[0] == prev && in[1] == 2 * prev && in[2] == -1);

    memset(in, 0, sizeof in);
    CHECK(MPI_Sendrecv_c(out, n, MPI_LONG, next, 2, in, n, MPI_LONG, prev, 2, MPI_COMM_WORLD,
                         &status) == MPI_SUCCESS);
    MPI_Get_count_c(&status, MPI_LONG, &n);
    CHECK(n == 3 && in[1] == 2 * prev && status.MPI_SOURCE == prev);
    CHECK(MPI_Sendrecv_replace_c(out, n, MPI_LONG, next, 3, prev, 3, MPI_COMM_WORLD, &status) ==
          MPI_SUCCESS);
    CHECK(out[0] == prev && out[1] == 2 * prev);
}

static void modes(void)
{
    double value = rank, got = -1;
    MPI_Count room = MPI_BSEND_OVERHEAD + sizeof value;
    void *buffer = malloc((size_t)room), *back = NULL;
    MPI_Request request[2];
    MPI_Message message;

    CHECK(MPI_Buffer_attach_c(buffer, room) == MPI_SUCCESS);
    CHECK(MPI_Bsend_c(&value, 1, MPI_DOUBLE, next, 4, MPI_COMM_WORLD) == MPI_SUCCESS);
    CHECK(MPI_Recv_c(&got, 1, MPI_DOUBLE, prev, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE) ==
          MPI_SUCCESS);
    CHECK(got == prev);
    CHECK(MPI_Buffer_detach_c(&back, &room) == MPI_SUCCESS);
    CHECK(back == buffer && room == (MPI_Count)(MPI_BSEND_OVERHEAD + sizeof value));
    free(buffer);

    MPI_Issend_c(&value, 1, MPI_DOUBLE, next, 5, MPI_COMM_WORLD, &request[0]);
    MPI_Mprobe(prev, 5, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
    got = -1;
    MPI_Imrecv_c(&got, 1, MPI_DOUBLE, &message, &request[1]);
    MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
    CHECK(got == prev && message == MPI_MESSAGE_NULL);

    got = -1;
    MPI_Send_init_c(&value, 1, MPI_DOUBLE, next, 6, MPI_COMM_WORLD, &request[0]);
    MPI_Recv_init_c(&got, 1, MPI_DOUBLE, prev, 6, MPI_COMM_WORLD, &request[1]);
    MPI_Startall(2, request);
    MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
    CHECK(got == prev);
    MPI_Request_free(&request[0]);
    MPI_Request_free(&request[1]);
}

static void statuses(void)
{
    MPI_Status status;
    MPI_Count big = (MPI_Count)3 << 32, n = 0;
    int small;

    memset(&status, 0, sizeof status);
    MPI_Status_set_elements_x(&status, MPI_INT, big);
    MPI_Get_count_c(&status, MPI_INT, &n);
    CHECK(n == big);
    MPI_Get_elements_c(&status, MPI_INT, &n);
    CHECK(n == big);
    MPI_Get_count(&status, MPI_INT, &small);
    CHECK(small == MPI_UNDEFINED);
    MPI_Get_elements(&status, MPI_INT, &small);
    CHECK(small == MPI_UNDEFINED);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    rank = check_rank();
    size = check_size();
    next = (rank + 1) % size;
    prev = (rank + size - 1) % size;
    exchange();
    modes();
    statuses();
    check_ok("large counts");
    MPI_Finalize();
    return 0;
}
