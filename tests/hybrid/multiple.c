/*
 * Threads that call MPI at the same time.
 *
 *     multiple [more]     more: also what depends on the order of real time
 *
 * Each of three threads exchanges messages with the same thread of the other rank, which takes as
 * long as one of them alone takes. Then threads complete what another one has started, and wait for
 * each other outside MPI.
 */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define THREADS 3
#define ROUNDS 20

static int rank, peer, is_more, failures;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int is_posted, received;
static MPI_Request posted;

static void check(int is_right, const char *what)
{
    if (is_right)
        return;
    fprintf(stderr, "check failed: rank %d: %s\n", rank, what);
    failures++;
}

static void *exchange(void *which)
{
    int tag = (int)(long)which, level, is_main = 1;
    double before = is_more ? MPI_Wtime() : 0; /* reading it takes time */
    MPI_Query_thread(&level);
    MPI_Is_thread_main(&is_main);
    check(level == MPI_THREAD_MULTIPLE && !is_main, "level");
    for (int i = 0; i < ROUNDS; i++) {
        int out = rank * 10000 + tag * 100 + i, in = -1;
        if (rank == 0)
            MPI_Send(&out, 1, MPI_INT, peer, tag, MPI_COMM_WORLD);
        MPI_Recv(&in, 1, MPI_INT, peer, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (rank == 1)
            MPI_Send(&out, 1, MPI_INT, peer, tag, MPI_COMM_WORLD);
        check(in == peer * 10000 + tag * 100 + i, "another message");
    }
    check(!is_more || MPI_Wtime() >= before, "the clock goes back");
    return NULL;
}

/* Completes a receive that the first thread has posted, and tells it. */
static void *complete(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&lock);
    while (!is_posted)
        pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
    MPI_Wait(&posted, MPI_STATUS_IGNORE);
    double at = MPI_Wtime();
    pthread_mutex_lock(&lock);
    is_posted = 0;
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&lock);
    check(at >= 0.05, "complete before the message is there");
    return NULL;
}

static void hand_over(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, complete, NULL);
    MPI_Irecv(&received, 1, MPI_INT, MPI_ANY_SOURCE, 7, MPI_COMM_WORLD, &posted);
    pthread_mutex_lock(&lock);
    is_posted = 1;
    pthread_cond_signal(&changed);
    MPI_Send(&rank, 1, MPI_INT, peer, 7, MPI_COMM_WORLD);
    while (is_posted)
        pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
    check(MPI_Wtime() >= 0.05, "behind the thread that it waited for");
    pthread_join(thread, NULL);
    check(received == peer, "another message is handed over");
}

/* Messages from any source, probes and collectives beside them. */
static void *sum_up(void *comm)
{
    for (int i = 0; i < ROUNDS; i++) {
        int sum;
        MPI_Allreduce(&i, &sum, 1, MPI_INT, MPI_SUM, *(MPI_Comm *)comm);
        check(sum == 2 * i, "another sum");
    }
    return NULL;
}

static void beside(void)
{
    MPI_Comm comm;
    pthread_t thread;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    pthread_create(&thread, NULL, sum_up, &comm);
    for (int i = 0; i < ROUNDS; i++) {
        MPI_Status status;
        MPI_Message message;
        int in = -1;
        MPI_Send(&i, 1, MPI_INT, peer, 8, MPI_COMM_WORLD);
        MPI_Mprobe(MPI_ANY_SOURCE, 8, MPI_COMM_WORLD, &message, &status);
        MPI_Mrecv(&in, 1, MPI_INT, &message, &status);
        check(in == i && status.MPI_SOURCE == peer, "another message is found");
    }
    pthread_join(thread, NULL);
    MPI_Comm_free(&comm);
}

int main(int argc, char **argv)
{
    int provided;
    pthread_t threads[THREADS];
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    peer = 1 - rank;
    is_more = argc > 1;
    for (long i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, exchange, (void *)i);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    if (is_more) {
        hand_over();
        beside();
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        printf("%s\n", provided == MPI_THREAD_MULTIPLE ? "multiple" : "another level");
    MPI_Finalize();
    return failures != 0;
}
