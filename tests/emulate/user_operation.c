/* A non-blocking reduction whose user operation asks for the size of its type. Ranks compute until
 * it was called, or for a while: then the reduction goes on without a call of theirs. */
#include <mpi.h>
#include <stdio.h>
#include <time.h>

#define WHILE_S 1.0

static volatile int calls;

static void add(void *in, void *inout, int *count, MPI_Datatype *type)
{
    int size = 0;
    MPI_Type_size(*type, &size);
    for (int i = 0; i < *count && size == (int)sizeof(int); i++)
        ((int *)inout)[i] += ((int *)in)[i];
    calls++;
}

int main(int argc, char **argv)
{
    int rank, sum = -1;
    MPI_Op op;
    MPI_Request request;
    struct timespec start, now;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Op_create(add, 1, &op);
    MPI_Iallreduce(&rank, &sum, 1, MPI_INT, op, MPI_COMM_WORLD, &request);
    clock_gettime(CLOCK_MONOTONIC, &start);
    do
        clock_gettime(CLOCK_MONOTONIC, &now);
    while (!calls &&
           (double)(now.tv_sec - start.tv_sec) + 1e-9 * (double)(now.tv_nsec - start.tv_nsec) <
               WHILE_S);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    printf("the sum is %d\n", sum);
    MPI_Op_free(&op);
    MPI_Finalize();
    return 0;
}
