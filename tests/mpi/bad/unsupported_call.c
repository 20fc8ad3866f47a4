/* flags: -Wl,--export-dynamic -Wl,--unresolved-symbols=ignore-all */
/* Imports MPI functions that neither the simulator nor the MPI it stands for has: of MPI-4.1. */
#include <mpi.h>
#include <stdio.h>

extern int MPI_Buffer_flush(void);
extern int MPI_Remove_error_class(int errorclass);

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    puts("the program has started");
    fflush(stdout);
    MPI_Buffer_flush();
    MPI_Remove_error_class(0);
    MPI_Finalize();
    return 0;
}
