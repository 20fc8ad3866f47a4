/* Computes in a region, exchanges a message, and polls: for the processor models. Prints how often
 * it computed and when it ended. */
#include <mpi.h>
#include <orrery.h>
#include <stdio.h>

static volatile double sink;

static void work(void)
{
    for (int i = 0; i < 20000; i++)
        sink += i;
}

int main(int argc, char **argv)
{
    int rank, size, ran = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < 10; i++) {
        int value = i, got, done = 0;
        MPI_Request request;

        if (orrery_region("solve")) {
            work();
            ran++;
        }
        orrery_region_end();
        MPI_Irecv(&got, 1, MPI_INT, (rank + size - 1) % size, 0, MPI_COMM_WORLD, &request);
        MPI_Send(&value, 1, MPI_INT, (rank + 1) % size, 0, MPI_COMM_WORLD);
        while (!done)
            MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    }
    printf("rank %d ran %d times, end %.12f\n", rank, ran, MPI_Wtime());
    MPI_Finalize();
    return 0;
}
