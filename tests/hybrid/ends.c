/* Ends badly: one rank aborts or crashes while others wait, or nobody calls MPI_Init; or well. */
#include <mpi.h>
#include <signal.h>
#include <string.h>

int main(int argc, char **argv)
{
    int rank;
    if (argc != 2 || strcmp(argv[1], "early") == 0)
        return 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 1 && strcmp(argv[1], "abort") == 0)
        MPI_Abort(MPI_COMM_WORLD, 7);
    if (rank == 1 && strcmp(argv[1], "crash") == 0)
        raise(SIGSEGV);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
