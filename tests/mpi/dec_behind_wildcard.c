/* test: n=3,5 native=4 measured=no
 * A named receive posted behind a wildcard that overlaps it waits until the wildcard is decided,
 * whichever sender comes first; one with another tag does not. */
#include "decide.h"

static void receiver(int early)
{
    int any = -1, named = -1, other = -1, last = -1;
    MPI_Request requests[3];
    MPI_Status statuses[3];
    MPI_Irecv(&any, 1, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(&named, 1, MPI_INT, 1, 1, MPI_COMM_WORLD, &requests[1]);
    MPI_Irecv(&other, 1, MPI_INT, 1, 2, MPI_COMM_WORLD, &requests[2]);
    MPI_Wait(&requests[2], &statuses[2]);
    CHECK(other == 12);
    MPI_Waitall(2, requests, statuses);
    /* Rank 1 sends 10 then 11, rank 2 sends 20. */
    CHECK(any == 10 || any == 20);
    CHECK(named == (any == 10 ? 11 : 10));
    CHECK(statuses[0].MPI_SOURCE == any / 10);
    CHECK(!check_virtual() || any == early * 10);
    MPI_Recv(&last, 1, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK(last == (any == 10 ? 20 : 11));
}

static void sender(int rank, int early)
{
    check_spend(rank == early ? 0.010 : 0.050);
    int values[3] = {rank * 10, rank * 10 + 1, rank * 10 + 2};
    MPI_Request requests[3];
    for (int i = 0; i < (rank == 1 ? 3 : 1); i++)
        MPI_Isend(&values[i], 1, MPI_INT, 0, i < 2 ? 1 : 2, MPI_COMM_WORLD, &requests[i]);
    MPI_Waitall(rank == 1 ? 3 : 1, requests, MPI_STATUSES_IGNORE);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int rank = check_rank();
    CHECK(check_size() >= 3);
    for (int early = 1; early <= 2; early++) {
        if (rank == 0)
            receiver(early);
        else if (rank <= 2)
            sender(rank, early);
        check_ok(early == 1 ? "same sender first" : "other sender first");
    }
    MPI_Finalize();
    return 0;
}
