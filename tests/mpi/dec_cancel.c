/* test: n=2,5 native=4 measured=no
 * Cancel against a message in flight: cancelled if the message had not arrived by the clock of
 * the canceller, received otherwise; never both, never neither. */
#include "check.h"

static void canceller(double when, int expect_cancelled, int source)
{
    int value = -1, cancelled = -1;
    MPI_Request request;
    MPI_Status status;
    MPI_Irecv(&value, 1, MPI_INT, source, 5, MPI_COMM_WORLD, &request);
    check_spend(when);
    MPI_Cancel(&request);
    MPI_Wait(&request, &status);
    MPI_Test_cancelled(&status, &cancelled);
    CHECK(!check_virtual() || cancelled == expect_cancelled);
    if (cancelled) {
        CHECK(value == -1);
        MPI_Recv(&value, 1, MPI_INT, 1, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    CHECK(value == 77);
}

int main(int argc, char **argv)
{
    static const double times[] = {0.001, 0.050};
    MPI_Init(&argc, &argv);
    int rank = check_rank(), value = 77;
    for (int i = 0; i < 4; i++) {
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == 0)
            canceller(times[i % 2], i % 2 == 0, i < 2 ? 1 : MPI_ANY_SOURCE);
        if (rank == 1) {
            check_spend(0.010);
            MPI_Send(&value, 1, MPI_INT, 0, 5, MPI_COMM_WORLD);
        }
    }
    check_ok("cancel");
    MPI_Finalize();
    return 0;
}
