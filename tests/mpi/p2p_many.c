/* test: n=5,64,300 native=4
 * Many receives posted at once, in every order, with wildcards among them: what an index of posted
 * receives and of early messages must get right. */
#include "check.h"

enum { ROUNDS = 40 };

static int value(int from, int round, int tag)
{
    return from * 1000 + round * 10 + tag;
}

/* Every rank sends ROUNDS messages with tags 0..2 to rank 0, after rank 0 is ready or before. */
static void send_all(int rank)
{
    for (int i = 0; i < ROUNDS; i++) {
        int v = value(rank, i, i % 3);
        MPI_Send(&v, 1, MPI_INT, 0, i % 3, MPI_COMM_WORLD);
    }
}

/* Named receives, the last source and the last round first; tags come in order within a source. */
static void receive_named(int size, int *in, MPI_Request *requests)
{
    int n = 0;
    for (int from = size - 1; from > 0; from--)
        for (int i = 0; i < ROUNDS; i++, n++)
            MPI_Irecv(&in[n], 1, MPI_INT, from, i % 3, MPI_COMM_WORLD, &requests[n]);
    MPI_Waitall(n, requests, MPI_STATUSES_IGNORE);
    n = 0;
    for (int from = size - 1; from > 0; from--)
        for (int i = 0; i < ROUNDS; i++, n++)
            CHECK(in[n] == value(from, i, i % 3));
}

/* Any source: each message once, each source's messages of a tag in order. */
static void receive_any(int size, int *in, MPI_Request *requests, MPI_Status *statuses)
{
    int total = (size - 1) * ROUNDS, n = 0;
    int *next = (int *)calloc((size_t)size * 3, sizeof(int));
    for (int i = 0; i < ROUNDS; i++)
        for (int from = 1; from < size; from++, n++)
            MPI_Irecv(&in[n], 1, MPI_INT, MPI_ANY_SOURCE, i % 3, MPI_COMM_WORLD, &requests[n]);
    MPI_Waitall(total, requests, statuses);
    for (n = 0; n < total; n++) {
        int from = statuses[n].MPI_SOURCE, tag = statuses[n].MPI_TAG;
        CHECK(in[n] / 1000 == from && in[n] % 10 == tag);
        CHECK(in[n] % 1000 / 10 == next[from * 3 + tag] * 3 + tag);
        next[from * 3 + tag]++;
    }
    free(next);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int rank = check_rank(), size = check_size();
    size_t total = (size_t)size * ROUNDS;
    int *in = (int *)calloc(total, sizeof(int));
    MPI_Request *requests = (MPI_Request *)calloc(total, sizeof(MPI_Request));
    MPI_Status *statuses = (MPI_Status *)calloc(total, sizeof(MPI_Status));
    for (int early = 0; early < 2; early++) {
        if (rank > 0 && early)
            send_all(rank);
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank > 0 && !early)
            send_all(rank);
        if (rank == 0)
            receive_named(size, in, requests);
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank > 0)
            send_all(rank);
        else
            receive_any(size, in, requests, statuses);
        MPI_Barrier(MPI_COMM_WORLD); /* nobody begins the next round's sends */
    }
    check_ok("many");
    free(statuses);
    free(requests);
    free(in);
    MPI_Finalize();
    return 0;
}
