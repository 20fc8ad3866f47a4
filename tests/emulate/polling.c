/* Reads the clock until 20 ms have passed; prints how often. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    double start, now, before;
    long readings = 0;

    MPI_Init(&argc, &argv);
    start = before = MPI_Wtime();
    do {
        now = MPI_Wtime();
        if (now < before)
            printf("%.9f after %.9f\n", now, before);
        before = now;
        readings++;
    } while (now - start < 0.02);
    MPI_Barrier(MPI_COMM_WORLD);
    if (MPI_Wtime() < before)
        puts("the clock went back");
    printf("%ld readings\n", readings);
    MPI_Finalize();
    return 0;
}
