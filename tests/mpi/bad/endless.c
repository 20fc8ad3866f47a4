/* Ranks that synchronise for ever. */
#include <mpi.h>

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    for (;;)
        MPI_Barrier(MPI_COMM_WORLD);
}
