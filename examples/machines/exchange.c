/*
 * Every rank exchanges a message with the next one, and rank 0 prints which pair takes longest.
 */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int rank, size;
    char byte = 0;
    double *times = NULL, own = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int from = 0; from < size && size > 1; from++) { /* one pair after the other */
        int to = (from + 1) % size;
        MPI_Barrier(MPI_COMM_WORLD);
        double start = MPI_Wtime();
        if (rank == from) {
            MPI_Send(&byte, 1, MPI_CHAR, to, 0, MPI_COMM_WORLD);
            MPI_Recv(&byte, 1, MPI_CHAR, to, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            own = MPI_Wtime() - start;
        } else if (rank == to) {
            MPI_Recv(&byte, 1, MPI_CHAR, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Send(&byte, 1, MPI_CHAR, from, 0, MPI_COMM_WORLD);
        }
    }
    if (rank == 0)
        times = malloc((size_t)size * sizeof *times);
    MPI_Gather(&own, 1, MPI_DOUBLE, times, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        double most = 0, least = INFINITY;
        for (int i = 0; i < size; i++) {
            most = fmax(most, times[i]);
            least = fmin(least, times[i]);
        }
        printf("round trips of %.2f to %.2f us: ", least * 1e6, most * 1e6);
        if (most - least < 1e-7) {
            printf("all are the same\n");
        } else {
            const char *before = "the slowest is";
            for (int i = 0; i < size; i++)
                if (times[i] > most - 1e-7) {
                    printf("%s from %d to %d", before, i, (i + 1) % size);
                    before = " or";
                }
            printf("\n");
        }
        free(times);
    }
    MPI_Finalize();
    return 0;
}
