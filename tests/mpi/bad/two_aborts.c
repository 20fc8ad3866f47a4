/* Two ranks abort, at 20 us and at 10 us, and all print before: the earlier abort counts, and what
 * was printed before it is shown, in whatever order the ranks are run. */
#include <mpi.h>
#include <stdio.h>

extern void orrery_compute(double) __attribute__((weak));

static void spend(double seconds)
{
    if (orrery_compute)
        orrery_compute(seconds);
}

int main(int argc, char **argv)
{
    int rank, flag;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    spend(1e-6 * rank);
    MPI_Iprobe(MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    printf("before %d\n", rank);
    spend(rank == 0 ? 20e-6 : rank == 1 ? 9e-6 : 15e-6);
    printf("late %d\n", rank);
    if (rank < 2)
        MPI_Abort(MPI_COMM_WORLD, rank == 0 ? 3 : 4);
    MPI_Recv(&flag, 1, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}
