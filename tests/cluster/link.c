/* What ranks 0 and 1 see of the network between them: names, and the shortest times of a short
 * and a long message. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define TURNS 20

static double exchange(int rank, char *buffer, int bytes, int turns)
{
    double best = 1e9;
    for (int i = 0; i < turns; i++) {
        double start = MPI_Wtime();
        if (rank == 0) {
            MPI_Send(buffer, bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
            MPI_Recv(buffer, 1, MPI_BYTE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else if (rank == 1) {
            MPI_Recv(buffer, bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Send(buffer, 1, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
        }
        double time = MPI_Wtime() - start;
        best = time < best ? time : best;
    }
    return best;
}

int main(int argc, char **argv)
{
    char name[MPI_MAX_PROCESSOR_NAME];
    int rank, length, bytes = argc > 1 ? atoi(argv[1]) : 1;
    char *buffer = malloc((size_t)bytes);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Get_processor_name(name, &length);
    printf("rank %d on %s\n", rank, name);
    fflush(stdout);
    MPI_Barrier(MPI_COMM_WORLD);
    double little = exchange(rank, buffer, 1, TURNS), much = exchange(rank, buffer, bytes, 3);
    if (rank == 0)
        printf("short %.9f long %.9f\n", little, much);
    MPI_Finalize();
    free(buffer);
    return 0;
}
