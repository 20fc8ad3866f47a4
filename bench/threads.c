/*
 * threads.c - four threads of each rank put 4 bytes to rank 0 and wait for that, over and over.
 *
 * usage: threads ROUNDS
 */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { THREADS = 4 };

static MPI_Win window;
static int rank, rounds;

/* Each has a cell of its own at rank 0. */
static void *work(void *number)
{
    int cell = rank * THREADS + *(int *)number;

    for (int i = 1; i <= rounds; i++) {
        MPI_Put(&i, 1, MPI_INT, 0, cell, 1, MPI_INT, window);
        MPI_Win_flush(0, window);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    int level, size, *cells, numbers[THREADS], wrong = 0;
    pthread_t threads[THREADS];

    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    rounds = argc > 1 ? atoi(argv[1]) : 1;
    MPI_Win_allocate((MPI_Aint)sizeof(int) * THREADS * size, sizeof(int), MPI_INFO_NULL,
                     MPI_COMM_WORLD, &cells, &window);
    MPI_Win_lock_all(0, window);
    for (int i = 0; i < THREADS; i++) {
        numbers[i] = i;
        pthread_create(&threads[i], NULL, work, &numbers[i]);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    MPI_Win_unlock_all(window);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; rank == 0 && i < THREADS * size; i++)
        wrong += cells[i] != rounds;
    MPI_Win_free(&window);
    MPI_Finalize();
    if (wrong)
        fprintf(stderr, "threads: %d of %d cells are wrong\n", wrong, THREADS * size);
    return wrong != 0;
}
