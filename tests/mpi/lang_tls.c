/* test: n=1,2,5,16,300 native=4
 * Thread-local variables belong to the rank: values, addresses taken, and messages into them. */
#include "check.h"

static _Thread_local int zeroed;
static _Thread_local int initialised = 17;
_Thread_local double vector[100];
_Thread_local char text[16] = "tls";
static _Thread_local int *self;

static int next(void)
{
    static _Thread_local int calls = 5;
    return calls++;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int rank = check_rank(), size = check_size();
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    CHECK(zeroed == 0 && initialised == 17 && self == 0 && strcmp(text, "tls") == 0);
    self = &initialised;
    zeroed = rank;
    *self = 100 + rank;
    snprintf(text, sizeof text, "r%d", rank);
    for (int i = 0; i < 10; i++) {
        CHECK(next() == 5 + i);
        MPI_Barrier(MPI_COMM_WORLD);
        CHECK(zeroed == rank && initialised == 100 + rank && self == &initialised);
    }
    MPI_Request request;
    MPI_Irecv(vector, 100, MPI_DOUBLE, left, 1, MPI_COMM_WORLD, &request);
    MPI_Barrier(MPI_COMM_WORLD);
    double mine[100];
    for (int i = 0; i < 100; i++)
        mine[i] = rank * 1000 + i;
    MPI_Send(mine, 100, MPI_DOUBLE, right, 1, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (int i = 0; i < 100; i++)
        CHECK(vector[i] == left * 1000 + i);
    int sum = 0;
    MPI_Allreduce(&zeroed, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK(sum == size * (size - 1) / 2);
    char expected[16];
    snprintf(expected, sizeof expected, "r%d", rank);
    CHECK(strcmp(text, expected) == 0);
    check_ok("tls");
    MPI_Finalize();
    return 0;
}
