/* Each rank has a second thread that computes. */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>

static void *square(void *number)
{
    *(int *)number *= *(int *)number;
    return NULL;
}

int main(int argc, char **argv)
{
    int provided, rank, number, sum = 0;
    pthread_t thread;

    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    number = rank + 1;
    if (pthread_create(&thread, NULL, square, &number) != 0)
        MPI_Abort(MPI_COMM_WORLD, 1);
    pthread_join(thread, NULL);
    MPI_Allreduce(&number, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    printf("rank %d: %d\n", rank, sum);
    MPI_Finalize();
    return 0;
}
