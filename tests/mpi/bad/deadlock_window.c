/* Rank 0 holds a lock on rank 1's window and waits for rank 2, which waits for the lock; rank 3
 * starts an epoch for which rank 1 never posts. */
#include <mpi.h>

int main(int argc, char **argv)
{
    int me, one = 1, data = 0;
    MPI_Group all, target;
    MPI_Win win;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Win_create(&data, sizeof data, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_get_group(win, &all);
    MPI_Group_incl(all, 1, &one, &target);
    if (me == 0) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, win);
        MPI_Send(&data, 1, MPI_INT, 2, 5, MPI_COMM_WORLD);
        MPI_Recv(&data, 1, MPI_INT, 2, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (me == 2) {
        MPI_Recv(&data, 1, MPI_INT, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, win);
    } else if (me == 3) {
        MPI_Win_start(target, 0, win);
    }
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
