/* Half a second of processor time, and a sleep of two seconds. */
#include <mpi.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    int rank;
    double t[3];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    t[0] = MPI_Wtime();
    struct timespec at, end;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &end);
    do
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &at);
    while ((double)(at.tv_sec - end.tv_sec) + 1e-9 * (double)(at.tv_nsec - end.tv_nsec) < 0.5);
    t[1] = MPI_Wtime();
    sleep(2);
    t[2] = MPI_Wtime();
    if (rank == 0)
        printf("computed %.3f s, slept %.3f s\n", t[1] - t[0], t[2] - t[1]);
    MPI_Finalize();
    return 0;
}
