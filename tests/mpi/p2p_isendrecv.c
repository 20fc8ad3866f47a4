/* test: n=1,2,5
 * MPI_Isendrecv and MPI_Isendrecv_replace: one request for both parts, with the status of the
 * receive; small and large messages, MPI_PROC_NULL, any source, in all completing calls. */
#include "check.h"

enum { LARGE = 40000 };
static int rank, size, next, prev;

static void ring(int n)
{
    int *out = malloc((size_t)n * sizeof *out), *in = malloc((size_t)n * sizeof *in), count;
    MPI_Request request;
    MPI_Status status;

    for (int i = 0; i < n; i++)
        out[i] = rank * 7 + i;
    memset(in, 0, (size_t)n * sizeof *in);
    CHECK(MPI_Isendrecv(out, n, MPI_INT, next, 3, in, n, MPI_INT, prev, 3, MPI_COMM_WORLD,
                        &request) == MPI_SUCCESS);
    MPI_Wait(&request, &status);
    MPI_Get_count(&status, MPI_INT, &count);
    CHECK(request == MPI_REQUEST_NULL);
    CHECK(in[0] == prev * 7 && in[n - 1] == prev * 7 + n - 1);

    CHECK(MPI_Isendrecv_replace(out, n, MPI_INT, next, 4, prev, 4, MPI_COMM_WORLD, &request) ==
          MPI_SUCCESS);
    MPI_Waitall(1, &request, &status);
    CHECK(out[0] == prev * 7 && out[n - 1] == prev * 7 + n - 1);
    free(out);
    free(in);
}

static void strided(void)
{
    MPI_Datatype every_second;
    MPI_Request request;
    int data[12], done = 0;

    MPI_Type_vector(6, 1, 2, MPI_INT, &every_second);
    MPI_Type_commit(&every_second);
    for (int i = 0; i < 12; i++)
        data[i] = rank * 100 + i;
    MPI_Isendrecv_replace(data, 1, every_second, next, 5, prev, 5, MPI_COMM_WORLD, &request);
    while (!done)
        MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    MPI_Type_free(&every_second);
    for (int i = 0; i < 12; i++)
        CHECK(data[i] == (i % 2 ? rank : prev) * 100 + i);
}

static void ends(void)
{
    int out = rank, in = -1, flag, index;
    int to = rank + 1 < size ? rank + 1 : MPI_PROC_NULL, from = rank ? rank - 1 : MPI_PROC_NULL;
    MPI_Request request[2];
    MPI_Status status;

    MPI_Isendrecv(&out, 1, MPI_INT, to, 6, &in, 1, MPI_INT, from, 6, MPI_COMM_WORLD, &request[0]);
    request[1] = MPI_REQUEST_NULL;
    MPI_Waitany(2, request, &index, &status);
    CHECK(index == 0 && in == (rank ? rank - 1 : -1));
    MPI_Isendrecv(&out, 1, MPI_INT, MPI_PROC_NULL, 7, &in, 1, MPI_INT, MPI_PROC_NULL, 7,
                  MPI_COMM_WORLD, &request[0]);
    MPI_Testall(2, request, &flag, MPI_STATUSES_IGNORE);
    CHECK(flag);
}

static void wildcard(void)
{
    int out = rank, in = -1;
    MPI_Request request;

    MPI_Isendrecv(&out, 1, MPI_INT, next, 8, &in, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG,
                  MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(in == prev);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    rank = check_rank();
    size = check_size();
    next = (rank + 1) % size;
    prev = (rank + size - 1) % size;
    ring(1);
    ring(LARGE);
    if (check_virtual()) { /* MPICH 4.0.2 fails with derived types and MPI_PROC_NULL here */
        strided();
        ends();
    }
    MPI_Barrier(MPI_COMM_WORLD);
    wildcard();
    check_ok("isendrecv");
    MPI_Finalize();
    return 0;
}
