/*
 * Communicators that MPI_Comm_idup makes at the same time, completed and used in another order on
 * each rank, and freed without being used.
 */
#include <mpi.h>
#include <stdio.h>

#define COUNT 4

int main(int argc, char **argv)
{
    MPI_Comm made[COUNT];
    MPI_Request requests[COUNT], sums[COUNT];
    int rank, size, from[COUNT], to[COUNT], is_right = 1;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int times = 0; times < 3; times++) {
        for (int i = 0; i < COUNT; i++)
            MPI_Comm_idup(MPI_COMM_WORLD, &made[i], &requests[i]);
        for (int i = 0; i < COUNT; i++)
            MPI_Wait(&requests[(i + rank) % COUNT], MPI_STATUS_IGNORE);
        for (int i = 0; i < COUNT - 1; i++) {
            int which = (i + 2 * rank) % (COUNT - 1);
            from[which] = which + 1;
            MPI_Iallreduce(&from[which], &to[which], 1, MPI_INT, MPI_SUM, made[which],
                           &sums[which]);
        }
        MPI_Waitall(COUNT - 1, sums, MPI_STATUSES_IGNORE);
        for (int i = 0; i < COUNT - 1; i++)
            is_right &= to[i] == size * (i + 1);
        for (int i = 0; i < COUNT; i++)
            MPI_Comm_free(&made[(i + rank) % COUNT]);
    }
    MPI_Finalize();
    if (rank == 0)
        puts(is_right ? "done" : "check failed");
    return 0;
}
