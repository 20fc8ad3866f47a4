/*
 * A thread that reads clocks and sleeps beside the calls of the first one, with
 * MPI_THREAD_SERIALIZED.
 *
 *     threads [both]      both: it calls MPI beside them, too, which is wrong
 */
#include <mpi.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static atomic_int is_over;
static int rank, calls_too;

static void *beside(void *unused)
{
    struct timespec t;
    double last = 0;
    (void)unused;
    while (!is_over) {
        clock_gettime(CLOCK_MONOTONIC, &t);
        double now = (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
        if (now < last)
            fprintf(stderr, "check failed: the clock goes back\n");
        last = now;
        if (calls_too) {
            int flag;
            MPI_Iprobe(MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
        } else {
            usleep(1000);
        }
    }
    return NULL;
}

int main(int argc, char **argv)
{
    int provided, word = 0;
    pthread_t thread;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    calls_too = argc > 1;
    pthread_create(&thread, NULL, beside, NULL);
    for (int i = 0; i < 300 || calls_too; i++) {
        if (rank == 0)
            MPI_Send(&word, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
        else
            MPI_Recv(&word, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    double end = MPI_Wtime();
    is_over = 1;
    pthread_join(thread, NULL);
    if (rank == 0)
        printf("%s, %s\n", provided == MPI_THREAD_SERIALIZED ? "serialized" : "another level",
               end < 1 ? "short" : "long");
    MPI_Finalize();
    return 0;
}
