/* A long message for a receive from any source, while its rank is in a collective; then a probe,
 * and a receive of the same kind, for messages that came meanwhile. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { COUNT = 300000 };

int main(int argc, char **argv)
{
    int rank, *data = calloc(COUNT, sizeof *data), got;
    MPI_Request request;
    MPI_Status status;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0)
        MPI_Irecv(data, COUNT, MPI_INT, MPI_ANY_SOURCE, 3, MPI_COMM_WORLD, &request);
    for (int i = 1; rank == 1 && i <= 2; i++) {
        data[0] = data[COUNT / i - 1] = i;
        if (i == 1)
            MPI_Send(data, COUNT, MPI_INT, 0, 3, MPI_COMM_WORLD);
        else
            MPI_Isend(data, COUNT / i, MPI_INT, 0, 3, MPI_COMM_WORLD, &request);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1)
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (rank == 0) {
        MPI_Wait(&request, &status);
        MPI_Get_count(&status, MPI_INT, &got);
        printf("%d of %d from %d\n", data[COUNT - 1], got, status.MPI_SOURCE);
        MPI_Probe(1, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
        MPI_Get_count(&status, MPI_INT, &got);
        MPI_Recv(data, got, MPI_INT, 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        printf("%d of %d from %d\n", data[got - 1], got, status.MPI_SOURCE);
    }
    MPI_Finalize();
    free(data);
    return 0;
}
