/* test: n=2,5 native=2 measured=no host=threads flags="-pthread" run="--set nodes.ranks=8,net.model=constant"
 * Threads that meet at a barrier of their own, which spins, and exchange messages with threads of
 * other ranks between two of them; one thread waits for all. Then a rank whose threads spin, none
 * of them in MPI, until another rank has written into memory that both share: it must not keep the
 * others from running: with another model the last message of a barrier might not have arrived when
 * the rank begins to spin, and would not while it does. */
#include <pthread.h>
#include <stdatomic.h>

#include "check.h"

enum { THREADS = 3, ROUNDS = 6, MAX = 5 };

static int rank, size;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int arrived, phase;
static int out[THREADS], in[THREADS][MAX];
static MPI_Request requests[THREADS][2 * MAX];

static int phase_now(void)
{
    int now;

    pthread_mutex_lock(&lock);
    now = phase;
    pthread_mutex_unlock(&lock);
    return now;
}

static void meet(void)
{
    int before;

    pthread_mutex_lock(&lock);
    before = phase;
    if (++arrived == THREADS) {
        arrived = 0;
        phase++;
    }
    pthread_mutex_unlock(&lock);
    while (phase_now() == before)
        continue;
}

static void *exchange(void *number)
{
    MPI_Status statuses[2 * MAX];
    int me = (int)(long)number;

    for (int i = 0; i < ROUNDS; i++) {
        out[me] = 100 * rank + 10 * me + i;
        meet();
        for (int r = 0; r < size; r++) {
            MPI_Isend(&out[me], 1, MPI_INT, r, me, MPI_COMM_WORLD, &requests[me][2 * r]);
            MPI_Irecv(&in[me][r], 1, MPI_INT, r, me, MPI_COMM_WORLD, &requests[me][2 * r + 1]);
        }
        meet();
        for (int t = 0; t < THREADS && me == 1; t++)
            MPI_Waitall(2 * size, requests[t], statuses);
        meet();
        for (int r = 0; r < size; r++)
            CHECK(in[me][r] == 100 * r + 10 * me + i);
    }
    return NULL;
}

static void *idle(void *flag)
{
    while (!atomic_load((atomic_int *)flag))
        continue;
    return NULL;
}

/* So long that others might have run meanwhile. */
static void compute(void)
{
    for (volatile long i = 0; i < 30 * 1000 * 1000; i++)
        continue;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
}

static void await_memory(void)
{
    atomic_int *flag;
    MPI_Aint bytes;
    pthread_t thread;
    int unit;
    MPI_Win win;

    MPI_Win_allocate_shared(rank == 0 ? sizeof *flag : 0, sizeof *flag, MPI_INFO_NULL,
                            MPI_COMM_WORLD, &flag, &win);
    MPI_Win_shared_query(win, 0, &bytes, &unit, &flag);
    if (rank == 0)
        atomic_store(flag, 0);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        pthread_create(&thread, NULL, idle, flag);
        compute();
        pthread_join(thread, NULL);
    }
    if (rank == 1)
        atomic_store(flag, 1);
    MPI_Win_free(&win);
}

int main(int argc, char **argv)
{
    pthread_t threads[THREADS];
    int provided;

    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    CHECK(provided == MPI_THREAD_MULTIPLE);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (long i = 0; i < THREADS; i++)
        CHECK(pthread_create(&threads[i], NULL, exchange, (void *)i) == 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    MPI_Barrier(MPI_COMM_WORLD);
    await_memory();
    if (rank == 0)
        puts("ok");
    MPI_Finalize();
    return 0;
}
