/* test: n=2,3 native=2 host=threads flags="-pthread" schedules=3 measured=yes
 * Threads of a rank that take turns at short calls are on one processor: a switch takes less time
 * there. As soon as they compute they are no longer, whether all of them do or one waits in MPI. A
 * thread that the program has bound stays where it is. */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "check.h"

enum { THREADS = 4, ROUNDS = 2 };

static int rank;
static cpu_set_t home; /* where ranks take turns */
static MPI_Win window;
static pthread_barrier_t all;
static atomic_int together[ROUNDS];

/* How many processors the thread may use. */
static int processors(cpu_set_t *set)
{
    CPU_ZERO(set);
    CHECK(syscall(SYS_sched_getaffinity, 0, sizeof *set, set) > 0);
    return CPU_COUNT(set);
}

static int is_pinned(void)
{
    cpu_set_t set;

    return processors(&set) == 1;
}

/* Short calls, until one of the threads is pinned. */
static void take_turns(int round)
{
    int one = 1, before;

    while (!together[round]) {
        for (int i = 0; i < 100; i++) {
            MPI_Fetch_and_op(&one, &before, MPI_INT, rank, 0, MPI_SUM, window);
            MPI_Win_flush(rank, window);
        }
        if (!check_virtual() || is_pinned())
            together[round] = 1;
    }
}

/* Computing, until the thread is not pinned. */
static void compute(void)
{
    while (check_virtual() && is_pinned())
        ;
}

static void *work(void *arg)
{
    int id = *(int *)arg, value = 7;

    for (int round = 0; round < ROUNDS; round++) {
        take_turns(round);
        if (id == 0 && round == 1)
            MPI_Recv(&value, 1, MPI_INT, rank, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        else
            compute();
        if (id == 1 && round == 1)
            MPI_Send(&value, 1, MPI_INT, rank, 5, MPI_COMM_WORLD);
        CHECK(value == 7);
        pthread_barrier_wait(&all);
    }
    return NULL;
}

/* Binds itself to one processor, where it stays. */
static void *bound(void *unused)
{
    cpu_set_t one, now;
    int chosen = -1;

    (void)unused;
    processors(&now);
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, &now) && (chosen < 0 || !CPU_ISSET(cpu, &home)))
            chosen = cpu;
    CPU_ZERO(&one);
    CPU_SET(chosen, &one);
    CHECK(syscall(SYS_sched_setaffinity, 0, sizeof one, &one) == 0);
    for (int i = 0; i < 20000; i++)
        CHECK(MPI_Wtime() >= 0);
    CHECK(processors(&now) == 1 && CPU_EQUAL(&one, &now));
    return NULL;
}

static void *count(void *found)
{
    cpu_set_t set;

    *(int *)found = processors(&set);
    return NULL;
}

static void run_threads(void *(*what)(void *), int count)
{
    pthread_t threads[THREADS];
    int ids[THREADS];

    for (int i = 0; i < count; i++) {
        ids[i] = i;
        pthread_create(&threads[i], NULL, what, &ids[i]);
    }
    for (int i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
}

int main(int argc, char **argv)
{
    int level, *cell, usable;
    pthread_t counter;

    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    CHECK(level == MPI_THREAD_MULTIPLE);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    pthread_barrier_init(&all, NULL, THREADS);
    MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &cell, &window);
    *cell = 0;
    MPI_Win_lock_all(0, window);
    processors(&home);
    pthread_create(&counter, NULL, count, &usable);
    pthread_join(counter, NULL);
    if (usable > 1) {
        run_threads(work, THREADS);
        run_threads(bound, 1);
    }
    MPI_Win_unlock_all(window);
    MPI_Win_free(&window);
    check_ok("together");
    MPI_Finalize();
    return 0;
}
