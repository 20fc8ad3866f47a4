/*
 * Threads of each rank send to other ranks and meet at a barrier where they spin: in memory, with a
 * mutex, with sched_yield, or in MPI_Iprobe. One of them waits for the requests of all.
 * Arguments: how (memory, lock, yield, probe), threads (0: none are started), rounds, and whether
 * rank 0 makes a file in each round.
 */
#include <mpi.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

enum { THREADS_MAX = 16 };

static int size, threads, rounds, rank, how, tells;
static MPI_Request requests[2 * THREADS_MAX];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_int arrived, phase;
static int sent[THREADS_MAX], got[THREADS_MAX];

static int passed(int now)
{
    int differs;

    if (how != 'l')
        return atomic_load(&phase) != now;
    pthread_mutex_lock(&lock);
    differs = phase != now;
    pthread_mutex_unlock(&lock);
    return differs;
}

static void meet(void)
{
    int now = atomic_load(&phase), flag;

    if (atomic_fetch_add(&arrived, 1) + 1 == threads) {
        atomic_store(&arrived, 0);
        atomic_store(&phase, now + 1);
        return;
    }
    while (!passed(now)) {
        if (how == 'y')
            sched_yield();
        if (how == 'p')
            MPI_Iprobe(MPI_ANY_SOURCE, 99, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    }
}

static void tell(int round)
{
    char name[32];
    FILE *file;

    snprintf(name, sizeof name, "round.%d", round);
    file = fopen(name, "w");
    if (file)
        fclose(file);
}

static void *work(void *arg)
{
    int me = (int)(long)arg, peer = (rank + me) % size;
    int from = (rank - me + size * THREADS_MAX) % size;

    for (int i = 0; i < rounds; i++) {
        MPI_Status statuses[2 * THREADS_MAX];

        if (tells && rank == 0 && me == 0)
            tell(i);
        meet();
        sent[me] = 1000 * rank + i;
        MPI_Isend(&sent[me], 1, MPI_INT, peer, me, MPI_COMM_WORLD, &requests[2 * me]);
        MPI_Irecv(&got[me], 1, MPI_INT, from, me, MPI_COMM_WORLD, &requests[2 * me + 1]);
        meet();
        if (me == threads - 1)
            MPI_Waitall(2 * threads, requests, statuses);
        meet();
        if (got[me] != 1000 * from + i) {
            printf("rank %d, thread %d: %d in round %d\n", rank, me, got[me], i);
            MPI_Abort(MPI_COMM_WORLD, 1);
        }
    }
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t ids[THREADS_MAX];
    int level, started;

    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    how = argv[1][0];
    threads = atoi(argv[2]);
    rounds = atoi(argv[3]);
    tells = argc > 4;
    started = threads;
    threads = threads ? threads : 1;
    for (long i = 0; i < started; i++)
        pthread_create(&ids[i], NULL, work, (void *)i);
    for (int i = 0; i < started; i++)
        pthread_join(ids[i], NULL);
    if (!started)
        work(NULL);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        printf("%d rounds\n", rounds);
    MPI_Finalize();
    return 0;
}
