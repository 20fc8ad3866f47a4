/* Writes a line now and then, for about a second of the host's. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 5; i++) {
        for (volatile long k = 0; k < 60000000; k++)
            ;
        printf("line %d of rank %d\n", i, rank);
        if (i == 3)
            fprintf(stderr, "trouble of rank %d\n", rank);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
