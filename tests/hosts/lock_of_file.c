/*
 * Rank 1 waits, outside of MPI, for what a thread of rank 0 does while another thread of it waits
 * for rank 1. More threads compute than there are processors, so rank 0 may be stopped meanwhile.
 */
#include <mpi.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

enum { THREADS = 64 };

static atomic_int over;

static void make(const char *name)
{
    FILE *file = fopen(name, "w");

    if (file)
        fclose(file);
}

static void *compute(void *unused)
{
    while (!atomic_load(&over))
        ;
    return unused;
}

static void *answer(void *unused)
{
    while (access("asked", F_OK) != 0)
        ;
    make("answered");
    return unused;
}

static void wait_for_answer(void)
{
    pthread_t threads[THREADS];
    int got;

    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, i ? compute : answer, NULL);
    MPI_Recv(&got, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    atomic_store(&over, 1);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    printf("got %d\n", got);
}

int main(int argc, char **argv)
{
    int rank, level, answer_of_file = 42;

    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        wait_for_answer();
    } else {
        make("asked");
        while (access("answered", F_OK) != 0)
            ;
        MPI_Send(&answer_of_file, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
