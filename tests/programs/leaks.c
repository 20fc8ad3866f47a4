/*
 * Frees what it makes, unless it was built with -DLEAKS.
 */
#include <mpi.h>

int main(int argc, char **argv)
{
    MPI_Comm copy;
    MPI_Datatype type;

    MPI_Init(&argc, &argv);
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    MPI_Comm_free(&copy);
#ifndef LEAKS
    MPI_Type_contiguous(3, MPI_INT, &type);
    MPI_Type_free(&type);
#else
    MPI_Type_contiguous(3, MPI_INT, &type);
#endif
    MPI_Finalize();
    return 0;
}
