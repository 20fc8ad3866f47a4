/* A rank that takes longer than the others, whose neighbours wait for it. With an argument it
 * computes nothing. */
#include <mpi.h>
#include <orrery.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int rank, size, out, in[2];
    MPI_Request requests[4];
    MPI_Status statuses[4];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    out = rank;
    for (int step = 0; step < 5; step++) {
        orrery_region("solve");
        if (argc == 1)
            orrery_compute(rank == 2 ? 3e-3 : 1e-3);
        orrery_region_end();
        if (argc == 1)
            orrery_compute(1e-3);
        MPI_Irecv(&in[0], 1, MPI_INT, (rank + size - 1) % size, 0, MPI_COMM_WORLD, &requests[0]);
        MPI_Irecv(&in[1], 1, MPI_INT, (rank + 1) % size, 0, MPI_COMM_WORLD, &requests[1]);
        MPI_Isend(&out, 1, MPI_INT, (rank + 1) % size, 0, MPI_COMM_WORLD, &requests[2]);
        MPI_Isend(&out, 1, MPI_INT, (rank + size - 1) % size, 0, MPI_COMM_WORLD, &requests[3]);
        MPI_Waitall(4, requests, statuses);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
