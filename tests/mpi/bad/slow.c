/* Takes the given number of seconds, 20 by default: by waiting for the clock, rank 1 by
 * sleeping. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    int me;
    double start, seconds = argc > 1 ? atof(argv[1]) : 20;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    printf("rank %d begins\n", me);
    start = MPI_Wtime();
    if (me == 1)
        sleep((unsigned)seconds);
    while (MPI_Wtime() - start < seconds)
        ;
    printf("rank %d has waited\n", me);
    MPI_Finalize();
    return 0;
}
