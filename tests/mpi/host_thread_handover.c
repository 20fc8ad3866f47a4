/* test: n=2,5 native=2 host=threads flags="-pthread" schedules=10 measured=yes
 * Threads of a rank that take turns at short one-sided calls. A wait should cost one switch to
 * another thread and no more; that is counted. Threads that were expected to be back in MPI soon
 * and wait for another thread instead must not hold that one up for good. */
#define _GNU_SOURCE
#include <pthread.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "check.h"

enum { THREADS = 4, CALLS = 400, PHASES = 5 };

static int rank, size;
static MPI_Win window;
static pthread_barrier_t phase;

/* Every thread counts in a cell of its own at each rank. */
static void *work(void *arg)
{
    int cell = rank * THREADS + *(int *)arg, one = 1, before;

    for (int i = 0; i < PHASES * CALLS; i++) {
        MPI_Fetch_and_op(&one, &before, MPI_INT, i % size, cell, MPI_SUM, window);
        MPI_Win_flush(i % size, window);
        CHECK(before == i / size);
        if (i % CALLS == 0)
            pthread_barrier_wait(&phase);
    }
    return NULL;
}

/* How often threads of this process have slept. */
static long sleeps(void)
{
    struct rusage usage;

    syscall(SYS_getrusage, RUSAGE_SELF, &usage);
    return usage.ru_nvcsw;
}

static long run_threads(void)
{
    pthread_t threads[THREADS];
    int ids[THREADS];
    long before = sleeps();

    for (int i = 0; i < THREADS; i++) {
        ids[i] = i;
        pthread_create(&threads[i], NULL, work, &ids[i]);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    return sleeps() - before;
}

int main(int argc, char **argv)
{
    int level, *cells;
    long slept, sum;

    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    CHECK(level == MPI_THREAD_MULTIPLE);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    pthread_barrier_init(&phase, NULL, THREADS);
    MPI_Win_allocate((MPI_Aint)sizeof(int) * THREADS * size, sizeof(int), MPI_INFO_NULL,
                     MPI_COMM_WORLD, &cells, &window);
    for (int i = 0; i < THREADS * size; i++)
        cells[i] = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, window);
    slept = run_threads();
    MPI_Win_unlock_all(window);
    MPI_Reduce(&slept, &sum, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0 && check_virtual())
        CHECK(sum < (long)size * THREADS * PHASES * CALLS * 7 / 4);
    MPI_Win_free(&window);
    check_ok("handover");
    MPI_Finalize();
    return 0;
}
