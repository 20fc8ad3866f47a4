/* Waits for a millisecond by reading the clock, twice, and prints the number of readings; then the
 * time of a reading after an MPI call. */
#include <mpi.h>
#include <stdio.h>

static int spin(double seconds)
{
    double until = MPI_Wtime() + seconds;
    int readings = 0;

    while (MPI_Wtime() < until)
        readings++;
    return readings;
}

int main(int argc, char **argv)
{
    int first, second;
    double start;

    MPI_Init(&argc, &argv);
    first = spin(1e-3);
    MPI_Barrier(MPI_COMM_WORLD);
    second = spin(1e-3);
    MPI_Barrier(MPI_COMM_WORLD);
    start = MPI_Wtime();
    printf("readings: %d %d, then %.0f ns\n", first, second, (MPI_Wtime() - start) * 1e9);
    MPI_Finalize();
    return 0;
}
