/* test: n=2,5 native=4 host=threads flags="-pthread" measured=yes
 * Threads of a rank that wait at the same time, each for something else: a message, a request,
 * several of them, any of them, a probed message, a collective. What one of them handles is for
 * another, and whoever has got what it waits for must be woken. */
#include <pthread.h>

#include "check.h"

enum { ROUNDS = 40, LONG = 40000 };

static int rank, size, next, prev;
static MPI_Comm ring;
static int sums[6];

static void receive(int kind, int i)
{
    int out = rank * 1000 + i, in = -1;

    if ((rank + i) % 2 && size % 2 == 0) {
        MPI_Ssend(&out, 1, MPI_INT, next, kind, MPI_COMM_WORLD);
        MPI_Recv(&in, 1, MPI_INT, prev, kind, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
        MPI_Send(&out, 1, MPI_INT, next, kind, MPI_COMM_WORLD);
        MPI_Recv(&in, 1, MPI_INT, prev, kind, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    sums[kind] += in == prev * 1000 + i;
}

static void wait_one(int kind, int i)
{
    int out = rank * 1000 + i, in = -1;
    MPI_Request r;

    MPI_Irecv(&in, 1, MPI_INT, MPI_ANY_SOURCE, kind, MPI_COMM_WORLD, &r);
    MPI_Send(&out, 1, MPI_INT, next, kind, MPI_COMM_WORLD);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    sums[kind] += in == prev * 1000 + i;
}

static void wait_all(int kind, int i)
{
    static int out[LONG], in[LONG];
    MPI_Request r[2];

    out[LONG - 1] = rank * 1000 + i;
    MPI_Irecv(in, LONG, MPI_INT, prev, kind, MPI_COMM_WORLD, &r[0]);
    MPI_Isend(out, LONG, MPI_INT, next, kind, MPI_COMM_WORLD, &r[1]);
    MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
    sums[kind] += in[LONG - 1] == prev * 1000 + i;
}

static void wait_any(int kind, int i)
{
    int out = rank * 1000 + i, in = -1, at;
    MPI_Request r[2];

    MPI_Irecv(&in, 1, MPI_INT, prev, kind, MPI_COMM_WORLD, &r[0]);
    MPI_Isend(&out, 1, MPI_INT, next, kind, MPI_COMM_WORLD, &r[1]);
    MPI_Waitany(2, r, &at, MPI_STATUS_IGNORE);
    MPI_Waitany(2, r, &at, MPI_STATUS_IGNORE);
    sums[kind] += in == prev * 1000 + i;
}

static void probe(int kind, int i)
{
    int out = rank * 1000 + i, in = -1;
    MPI_Message m;

    MPI_Send(&out, 1, MPI_INT, next, kind, MPI_COMM_WORLD);
    MPI_Mprobe(i % 2 ? MPI_ANY_SOURCE : prev, kind, MPI_COMM_WORLD, &m, MPI_STATUS_IGNORE);
    MPI_Mrecv(&in, 1, MPI_INT, &m, MPI_STATUS_IGNORE);
    sums[kind] += in == prev * 1000 + i;
}

static void reduce(int kind, int i)
{
    int sum, in = rank + i;

    MPI_Allreduce(&in, &sum, 1, MPI_INT, MPI_SUM, ring);
    sums[kind] += sum == size * (size - 1) / 2 + size * i;
}

static void (*const kinds[])(int, int) = {receive, wait_one, wait_all, wait_any, probe, reduce};
enum { KINDS = sizeof kinds / sizeof *kinds };

static void *repeat(void *arg)
{
    int kind = (int)(long)arg;

    for (int i = 0; i < ROUNDS; i++)
        kinds[kind](kind, i);
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t threads[KINDS];
    int provided;

    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    CHECK(provided == MPI_THREAD_MULTIPLE);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    next = (rank + 1) % size;
    prev = (rank + size - 1) % size;
    MPI_Comm_dup(MPI_COMM_WORLD, &ring);
    for (long i = 0; i < KINDS; i++)
        pthread_create(&threads[i], NULL, repeat, (void *)i);
    for (int i = 0; i < KINDS; i++)
        pthread_join(threads[i], NULL);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < KINDS; i++)
        CHECK(sums[i] == ROUNDS);
    MPI_Comm_free(&ring);
    if (rank == 0)
        puts("ok");
    MPI_Finalize();
    return 0;
}
