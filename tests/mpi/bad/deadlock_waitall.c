/* Every rank waits for messages from all others, which are never sent; with "any" for one of them.
 * Rank 0 also waits for many messages of rank 1. */
#include <mpi.h>
#include <string.h>

#define MANY 20

int main(int argc, char **argv)
{
    MPI_Request requests[64 + MANY];
    MPI_Status statuses[64 + MANY];
    int rank, size, count = 0, data[64 + MANY];

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 1; i < size && i < 64; i++, count++)
        MPI_Irecv(&data[count], 1, MPI_INT, (rank + i) % size, 0, MPI_COMM_WORLD, &requests[count]);
    for (int i = 0; i < MANY && rank == 0; i++, count++)
        MPI_Irecv(&data[count], 1, MPI_INT, 1, 1 + i, MPI_COMM_WORLD, &requests[count]);
    if (argc > 1 && strcmp(argv[1], "any") == 0) {
        int which;

        MPI_Waitany(count, requests, &which, statuses);
    } else {
        MPI_Waitall(count, requests, statuses);
    }
    MPI_Finalize();
    return 0;
}
