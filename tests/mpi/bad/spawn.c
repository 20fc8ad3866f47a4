/* Asks for more ranks, with the default error handler. */
#include <mpi.h>

int main(int argc, char **argv)
{
    MPI_Comm inter;

    MPI_Init(&argc, &argv);
    MPI_Comm_spawn("./worker", MPI_ARGV_NULL, 3, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter,
                   MPI_ERRCODES_IGNORE);
    MPI_Finalize();
    return 0;
}
