/* Rank 0 copies its input to its output; after MPI_Finalize, all say something, take longer than it
 * takes to end processes that hang, and end with status 3. */
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    int rank, c;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    while (rank == 0 && (c = getchar()) != EOF)
        putchar(c);
    fflush(stdout);
    MPI_Barrier(MPI_COMM_WORLD);
    fprintf(stderr, "%d before the end\n", rank);
    MPI_Finalize();
    sleep(4);
    fprintf(stderr, "%d after the end\n", rank);
    printf("%d output after the end\n", rank);
    return 3;
}
