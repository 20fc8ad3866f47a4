/* Threads that are in MPI at once: each sends to itself, and the first one waits for a request that
 * another one has started. */
#include <mpi.h>
#include <pthread.h>

#define THREADS 3
#define TIMES 50

static MPI_Request shared;
static int shared_value;

static void *work(void *argument)
{
    int tag = (int)(long)argument, value = 0;
    for (int i = 0; i < TIMES; i++) {
        MPI_Request request;
        MPI_Irecv(&value, 1, MPI_INT, 0, tag, MPI_COMM_SELF, &request);
        MPI_Send(&tag, 1, MPI_INT, 0, tag, MPI_COMM_SELF);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    if (tag == THREADS)
        MPI_Irecv(&shared_value, 1, MPI_INT, 0, 9, MPI_COMM_SELF, &shared);
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t threads[THREADS];
    int provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    for (long i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, work, (void *)(i + 1));
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    MPI_Ssend(&provided, 1, MPI_INT, 0, 9, MPI_COMM_SELF);
    MPI_Wait(&shared, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}
