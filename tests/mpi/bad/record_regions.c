/* Regions by MPI_Pcontrol: with a name, with a number, and calls that are not regions. */
#include <mpi.h>

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Pcontrol(1);
    MPI_Pcontrol(1, "solve");
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Pcontrol(7);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Pcontrol(-7);
    MPI_Pcontrol(-1, "solve");
    MPI_Pcontrol(1, (char *)8);
    MPI_Pcontrol(0);
    MPI_Pcontrol(2);
    MPI_Finalize();
    return 0;
}
