/* flags: -fsanitize=address -O0 */
/* Built with AddressSanitizer; with an argument, rank 1 writes beyond what it has allocated. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int rank, sum, *room;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    printf("rank %d: %d\n", rank, sum);
    room = malloc(10 * sizeof *room);
    if (rank == 1 && argc > 1)
        room[atoi(argv[1])] = sum;
    free(room);
    MPI_Finalize();
    return 0;
}
