/* What the clocks of a program show: an hour of sleep, and an answer of another rank. */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    int rank, word = 0;
    struct timeval from, to;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    double start = MPI_Wtime();
    sleep(3600);
    double slept = MPI_Wtime();
    MPI_Barrier(MPI_COMM_WORLD);
    gettimeofday(&from, NULL);
    double asked = MPI_Wtime();
    if (rank == 0) {
        MPI_Send(&word, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
        MPI_Recv(&word, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
        MPI_Recv(&word, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(&word, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
    }
    double answered = MPI_Wtime();
    gettimeofday(&to, NULL);
    double date = (double)(to.tv_sec - from.tv_sec) + (double)(to.tv_usec - from.tv_usec) * 1e-6;
    if (rank == 0)
        printf("slept %.1f s, answer after %.1f s, date and clock %s\n", slept - start,
               answered - asked, fabs(date - (answered - asked)) < 1e-5 ? "agree" : "differ");
    MPI_Finalize();
    return 0;
}
