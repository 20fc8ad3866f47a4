/* Prints a line, makes a file `started`, and then computes for ever, without MPI calls. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    volatile int forever = 1;

    MPI_Init(&argc, &argv);
    printf("spinning\n");
    fclose(fopen("started", "w"));
    while (forever)
        continue;
    MPI_Finalize();
    return 0;
}
