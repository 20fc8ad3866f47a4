/*
 * Writes a line now and then, for some seconds of host time, however fast the simulation is: the
 * loop reads the kernel's clock, not the virtual one.
 */
#include <mpi.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static double host_seconds(void)
{
    struct timespec now;
    syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 5; i++) {
        double start = host_seconds();
        while (host_seconds() - start < 0.25)
            ;
        printf("line %d of rank %d\n", i, rank);
        if (i == 3)
            fprintf(stderr, "trouble of rank %d\n", rank);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
