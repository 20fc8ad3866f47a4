/* test: n=1,2,5,16 native=4 schedules=3
 * Persistent collectives of all kinds, several at once, started again and again with new data, one
 * by one and with MPI_Startall, with non-blocking ones in between; the communicator is freed before
 * the last starts. Against what the definition says each rank must hold. */
#include "anycoll.h"

enum { ROUNDS = 6, REQUESTS = 5, STARTS = 4 };

static unsigned state = 4711;

static int pick(int below)
{
    state = state * 1103515245u + 12345u;
    return (int)(state >> 16) % below;
}

static void choose(struct any *k, MPI_Comm comm)
{
    k->op = pick(ANY_OPS);
    k->form = ANY_INIT;
    k->wide = pick(2);
    k->root = pick(1000);
    k->count = pick(3) ? pick(9) : pick(400);
    k->in_place = pick(3) == 0;
    k->ordered = pick(2);
    k->gaps = pick(2);
    k->comm = comm;
}

/* One more run of all of them; each rank starts them in an order of its own. */
static void run_all(struct any *calls, int n, int start, int rank)
{
    MPI_Request requests[REQUESTS];
    int first = (pick(n) + rank) % n, together = pick(2), flag;

    for (int i = 0; i < n; i++) {
        calls[i].id = start * 100 + i;
        any_fill(&calls[i]);
        requests[i] = calls[(first + i) % n].request;
    }
    if (together)
        MPI_Startall(n, requests);
    for (int i = 0; i < n && !together; i++)
        MPI_Start(&requests[i]);
    if ((rank + start) % 2)
        MPI_Waitall(n, requests, MPI_STATUSES_IGNORE);
    for (int i = n - 1; i >= 0; i--) /* already complete: idle requests are */
        do
            MPI_Test(&requests[i], &flag, MPI_STATUS_IGNORE);
        while (!flag);
    for (int i = 0; i < n; i++)
        any_verify(&calls[i]);
}

static void one_round(int rank, int size)
{
    struct any calls[REQUESTS];
    MPI_Comm comm;
    MPI_Request between;
    int n = 1 + pick(REQUESTS), sum = 0;

    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    for (int i = 0; i < n; i++) {
        choose(&calls[i], comm);
        any_make(&calls[i]);
        CHECK(any_call(&calls[i]) == MPI_SUCCESS);
    }
    for (int start = 0; start < STARTS; start++) {
        MPI_Iallreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &between);
        run_all(calls, n, start, rank);
        MPI_Wait(&between, MPI_STATUS_IGNORE);
        CHECK(sum == size * (size - 1) / 2);
        if (start == STARTS - 2)
            MPI_Comm_free(&comm);
    }
    for (int i = 0; i < n; i++) {
        MPI_Request_free(&calls[i].request);
        CHECK(calls[i].request == MPI_REQUEST_NULL);
        any_free(&calls[i]);
    }
}

int main(int argc, char **argv)
{
    int rank, size;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    any_init();
    for (int round = 0; round < ROUNDS; round++)
        one_round(rank, size);
    any_fini();
    if (rank == 0)
        printf("ok\n");
    MPI_Finalize();
    return 0;
}
