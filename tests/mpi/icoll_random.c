/* test: n=1,2,5,16 native=4 schedules=3
 * Several collectives pending at once, of all kinds and on several communicators, with
 * point-to-point messages and blocking collectives in between, completed in orders that differ
 * between ranks; against what the definition says each rank must hold. */
#include "anycoll.h"

enum { ROUNDS = 14, PENDING = 6, COMMS = 4 };

static unsigned state = 77, own_state;

static int draw(unsigned *s, int below)
{
    *s = *s * 1103515245u + 12345u;
    return (int)(*s >> 16) % below;
}

static int pick(int below)
{
    return draw(&state, below);
}

static void choose(struct any *k, const MPI_Comm *comms)
{
    k->op = pick(ANY_OPS);
    k->form = pick(8) ? ANY_LATER : ANY_NOW;
    k->wide = pick(2);
    k->root = pick(1000);
    k->count = pick(3) ? pick(9) : pick(4) ? pick(600) : pick(3000);
    k->in_place = pick(3) == 0;
    k->ordered = pick(2);
    k->gaps = pick(2);
    k->comm = comms[pick(COMMS)];
    k->id = pick(10000);
}

/* Each rank completes them in its own order. */
static void complete(int n, MPI_Request *requests)
{
    int done = 0, index, flag, indices[PENDING];
    MPI_Status statuses[PENDING];

    switch (draw(&own_state, 6)) {
    case 0:
        MPI_Waitall(n, requests, statuses);
        break;
    case 1:
        for (int i = n - 1; i >= 0; i--)
            MPI_Wait(&requests[i], &statuses[i]);
        break;
    case 2:
        do
            MPI_Waitany(n, requests, &index, statuses);
        while (index != MPI_UNDEFINED);
        break;
    case 3:
        for (int i = 0; i < n; i++)
            do
                MPI_Test(&requests[(i + 1) % n], &flag, statuses);
            while (!flag);
        break;
    case 4:
        do
            MPI_Waitsome(n, requests, &done, indices, statuses);
        while (done != MPI_UNDEFINED);
        break;
    case 5:
        do
            MPI_Testall(n, requests, &flag, statuses);
        while (!flag);
        break;
    }
    for (int i = 0; i < n; i++)
        CHECK(requests[i] == MPI_REQUEST_NULL);
}

/* A message around the ring of all ranks, received before or after the collectives. */
static void start_ring(int rank, int size, int *out, int *in, MPI_Request *requests)
{
    *out = rank * 3 + 1;
    MPI_Irecv(in, 1, MPI_INT, (rank + size - 1) % size, 5, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(out, 1, MPI_INT, (rank + 1) % size, 5, MPI_COMM_WORLD, &requests[1]);
}

int main(int argc, char **argv)
{
    MPI_Comm comms[COMMS] = {MPI_COMM_WORLD, MPI_COMM_NULL, MPI_COMM_NULL, MPI_COMM_SELF};
    int rank, size;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    own_state = (unsigned)rank + 1;
    MPI_Comm_dup(MPI_COMM_WORLD, &comms[1]);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &comms[2]);
    any_init();
    for (int round = 0; round < ROUNDS; round++) {
        struct any calls[PENDING];
        MPI_Request requests[PENDING], ring[2];
        int n = 1 + pick(PENDING), out, in = -1;

        start_ring(rank, size, &out, &in, ring);
        for (int i = 0; i < n; i++) {
            choose(&calls[i], comms);
            any_make(&calls[i]);
            any_fill(&calls[i]);
            CHECK(any_call(&calls[i]) == MPI_SUCCESS);
            requests[i] = calls[i].request;
            if (draw(&own_state, 4) == 0 && orrery_compute)
                orrery_compute(1e-6 * draw(&own_state, 50));
        }
        if (draw(&own_state, 2))
            MPI_Waitall(2, ring, MPI_STATUSES_IGNORE);
        complete(n, requests);
        MPI_Waitall(2, ring, MPI_STATUSES_IGNORE);
        CHECK(in == (rank + size - 1) % size * 3 + 1);
        for (int i = 0; i < n; i++) {
            any_verify(&calls[i]);
            any_free(&calls[i]);
        }
    }
    any_fini();
    MPI_Comm_free(&comms[1]);
    MPI_Comm_free(&comms[2]);
    if (rank == 0)
        printf("ok\n");
    MPI_Finalize();
    return 0;
}
