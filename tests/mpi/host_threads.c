/* test: n=1,2,5,16 native=4 host=threads flags="-pthread" measured=yes
 * Several threads of a rank in MPI at once: rings by tag, requests completed by another thread than
 * the one that made them, a collective beside them, and threads that only wait for others. */
#include <pthread.h>
#include <string.h>

#include "check.h"

enum { THREADS = 4, ROUNDS = 40 };

static int rank, size;

static void *ring(void *arg)
{
    int id = *(int *)arg, right = (rank + 1) % size, left = (rank + size - 1) % size;

    for (int i = 0; i < ROUNDS; i++) {
        int out[100], in[100];
        MPI_Request request;
        MPI_Status status;

        for (int k = 0; k < 100; k++)
            out[k] = rank * 10000 + id * 1000 + i + k;
        MPI_Irecv(in, 100, MPI_INT, left, id, MPI_COMM_WORLD, &request);
        MPI_Send(out, 1 + i, MPI_INT, right, id, MPI_COMM_WORLD);
        MPI_Wait(&request, &status);
        CHECK(status.MPI_SOURCE == left && status.MPI_TAG == id);
        CHECK(in[0] == left * 10000 + id * 1000 + i && in[i] == in[0] + i);
    }
    return NULL;
}

/* ---- a request made by one thread and completed by another ---- */

static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    MPI_Request request;
    int posted, value;
} hand = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static void *completer(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&hand.lock);
    while (!hand.posted)
        pthread_cond_wait(&hand.changed, &hand.lock);
    pthread_mutex_unlock(&hand.lock);
    MPI_Wait(&hand.request, MPI_STATUS_IGNORE);
    return NULL;
}

static void test_hand_over(void)
{
    pthread_t thread;
    int out = rank + 7;

    hand.posted = 0;
    CHECK(pthread_create(&thread, NULL, completer, NULL) == 0);
    pthread_mutex_lock(&hand.lock);
    MPI_Irecv(&hand.value, 1, MPI_INT, (rank + 1) % size, 99, MPI_COMM_WORLD, &hand.request);
    hand.posted = 1;
    pthread_cond_signal(&hand.changed);
    pthread_mutex_unlock(&hand.lock);
    MPI_Send(&out, 1, MPI_INT, (rank + size - 1) % size, 99, MPI_COMM_WORLD);
    pthread_join(thread, NULL);
    CHECK(hand.value == (rank + 1) % size + 7);
}

/* ---- any source, and a collective in another thread ---- */

static void *collector(void *unused)
{
    int sum = 0, value;

    (void)unused;
    for (int i = 0; i < size; i++) {
        MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 50, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        sum += value;
    }
    CHECK(sum == size * (size + 1) / 2);
    return NULL;
}

static void test_mixed(void)
{
    pthread_t thread;
    int mine = rank + 1, sum;

    CHECK(pthread_create(&thread, NULL, collector, NULL) == 0);
    for (int i = 0; i < size; i++)
        MPI_Send(&mine, 1, MPI_INT, i, 50, MPI_COMM_WORLD);
    MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK(sum == size * (size + 1) / 2);
    pthread_join(thread, NULL);
}

int main(int argc, char **argv)
{
    pthread_t threads[THREADS];
    int ids[THREADS], provided, flag;

    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    CHECK(provided == MPI_THREAD_MULTIPLE);
    MPI_Is_thread_main(&flag);
    CHECK(flag);
    for (int i = 0; i < THREADS; i++) {
        ids[i] = i;
        CHECK(pthread_create(&threads[i], NULL, ring, &ids[i]) == 0);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    test_hand_over();
    test_mixed();
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        puts("ok");
    MPI_Finalize();
    return 0;
}
