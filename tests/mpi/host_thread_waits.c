/* test: n=2,5 native=4 host=threads flags="-pthread" measured=yes
 * Threads that wait for different things while others of their rank wait in MPI: for one that ends,
 * which itself waits for another, at a barrier, for a semaphore; one that is cancelled while it
 * joins; and threads that flush the same target, each of which must finish while the others
 * continue. */
#include <pthread.h>
#include <semaphore.h>
#include <threads.h>

#include "check.h"

enum { THREADS = 4, FLUSHES = 50 };

static int rank, size;
static MPI_Win win;

static pthread_t start(void *(*what)(void *), void *arg)
{
    pthread_t thread;

    CHECK(pthread_create(&thread, NULL, what, arg) == 0);
    return thread;
}

/* ---- in MPI ---- */

static void *exchange(void *tag)
{
    int in = -1, to = (rank + 1) % size, from = (rank + size - 1) % size, t = *(int *)tag;

    if (rank == 0)
        MPI_Send(&rank, 1, MPI_INT, to, t, MPI_COMM_WORLD);
    MPI_Recv(&in, 1, MPI_INT, from, t, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK(in == from);
    if (rank != 0)
        MPI_Send(&rank, 1, MPI_INT, to, t, MPI_COMM_WORLD);
    return tag;
}

static int c_exchange(void *tag)
{
    exchange(tag);
    return 42;
}

/* ---- waiting for one that is there ---- */

static void *joins_another(void *tag)
{
    pthread_t inner = start(exchange, tag);
    void *result;

    CHECK(pthread_join(inner, &result) == 0);
    CHECK(result == tag);
    return tag;
}

static void test_join(void)
{
    int tag = 1, value = 0;
    pthread_t outer = start(joins_another, &tag);
    thrd_t c_thread;
    void *result;

    CHECK(pthread_join(outer, &result) == 0);
    CHECK(result == &tag);
    CHECK(thrd_create(&c_thread, c_exchange, &tag) == thrd_success);
    CHECK(thrd_join(c_thread, &value) == thrd_success);
    CHECK(value == 42);
    CHECK(pthread_join(pthread_self(), NULL) != 0);
}

static void *joins_for_ever(void *target)
{
    pthread_join(*(pthread_t *)target, NULL);
    CHECK(0);
    return NULL;
}

static void *waits(void *sem)
{
    CHECK(sem_wait(sem) == 0);
    return NULL;
}

static void test_cancelled_join(void)
{
    sem_t sem;
    pthread_t target, joiner;
    void *result;
    int tag = 2;

    sem_init(&sem, 0, 0);
    target = start(waits, &sem);
    joiner = start(joins_for_ever, &target);
    exchange(&tag);
    CHECK(pthread_cancel(joiner) == 0);
    CHECK(pthread_join(joiner, &result) == 0);
    CHECK(result == PTHREAD_CANCELED);
    exchange(&tag);
    sem_post(&sem);
    CHECK(pthread_join(target, NULL) == 0);
    sem_destroy(&sem);
}

/* ---- a barrier ---- */

static pthread_barrier_t barrier;

static void *rounds(void *tag)
{
    for (int i = 0; i < 20; i++) {
        if (*(int *)tag == 10 + i % THREADS)
            exchange(tag);
        pthread_barrier_wait(&barrier);
    }
    return NULL;
}

static void test_barrier(void)
{
    pthread_t threads[THREADS];
    int tags[THREADS];

    pthread_barrier_init(&barrier, NULL, THREADS);
    for (int i = 0; i < THREADS; i++) {
        tags[i] = 10 + i;
        threads[i] = start(rounds, &tags[i]);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    pthread_barrier_destroy(&barrier);
}

/* ---- flushes ---- */

static void *flush(void *slot)
{
    int at = *(int *)slot, target = (rank + 1) % size, got;

    for (int i = 1; i <= FLUSHES; i++) {
        MPI_Put(&i, 1, MPI_INT, target, at, 1, MPI_INT, win);
        if (i % 2)
            MPI_Win_flush(target, win);
        else
            MPI_Win_flush_all(win);
        MPI_Get(&got, 1, MPI_INT, target, at, 1, MPI_INT, win);
        MPI_Win_flush(target, win);
        CHECK(got == i);
    }
    return NULL;
}

static void test_flush(void)
{
    pthread_t threads[THREADS];
    int slots[THREADS], *memory;

    MPI_Win_allocate(THREADS * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory,
                     &win);
    MPI_Win_lock_all(0, win);
    for (int i = 0; i < THREADS; i++) {
        slots[i] = i;
        threads[i] = start(flush, &slots[i]);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
}

int main(int argc, char **argv)
{
    int provided;

    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    CHECK(provided == MPI_THREAD_MULTIPLE);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    test_join();
    test_cancelled_join();
    test_barrier();
    test_flush();
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        puts("ok");
    MPI_Finalize();
    return 0;
}
