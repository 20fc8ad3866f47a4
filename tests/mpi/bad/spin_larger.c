/* With more than one rank: makes a file `started`, and then computes for ever, without MPI
 * calls. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    int size;

    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (size > 1)
        fclose(fopen("started", "w"));
    for (volatile int forever = size > 1; forever;)
        continue;
    MPI_Finalize();
    return 0;
}
