/*
 * threads.c - a program whose ranks have two threads that call MPI at the same time: one asks the
 * next rank, the other answers whoever asks. Both wait for messages most of the time, so each rank
 * must go on with one thread while the other waits.
 *
 *     threads [probe]     with "probe" the answering thread probes for questions
 */
#include <mpi.h>
#include <orrery.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define ROUNDS 5
#define BYTES 20000
#define MS 1e-3

enum { QUESTION = 1, ANSWER };

static int rank, size, probes;
static MPI_Comm others; /* for the barrier of the asking threads */

/* Computes: declared in the simulator, real otherwise. */
static void compute(double seconds)
{
    double end = MPI_Wtime() + seconds;

    orrery_compute(seconds);
    while (MPI_Wtime() < end)
        nanosleep(&(struct timespec){.tv_nsec = 20000}, NULL);
}

static void *answer(void *unused)
{
    static char room[BYTES];
    MPI_Status status;

    for (int i = 0; i < ROUNDS; i++) {
        if (probes)
            MPI_Probe(MPI_ANY_SOURCE, QUESTION, MPI_COMM_WORLD, &status);
        MPI_Recv(room, 8, MPI_BYTE, MPI_ANY_SOURCE, QUESTION, MPI_COMM_WORLD, &status);
        MPI_Send(room, BYTES, MPI_BYTE, status.MPI_SOURCE, ANSWER, MPI_COMM_WORLD);
    }
    return unused;
}

static void ask(void)
{
    static char room[BYTES];
    int next = (rank + 1) % size;

    for (int i = 0; i < ROUNDS; i++) {
        MPI_Request requests[2];

        compute(MS * (rank + 1));
        MPI_Irecv(room, BYTES, MPI_BYTE, next, ANSWER, MPI_COMM_WORLD, &requests[0]);
        MPI_Isend(room, 8, MPI_BYTE, next, QUESTION, MPI_COMM_WORLD, &requests[1]);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        MPI_Barrier(others);
    }
}

int main(int argc, char **argv)
{
    pthread_t thread;
    int provided;

    probes = argc > 1 && strcmp(argv[1], "probe") == 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_dup(MPI_COMM_WORLD, &others);
    compute(MS);
    pthread_create(&thread, NULL, answer, NULL);
    ask();
    pthread_join(thread, NULL);
    MPI_Comm_free(&others);
    MPI_Finalize();
    return 0;
}
