/*
 * pi.c - pi by the midpoint rule: computation, and one reduction at the end.
 *
 * usage: pi INTERVALS [alone]     of all ranks together; alone: rank 0 does it all, the others wait
 */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    double width, mine = 0.0, pi = 0.0;
    long intervals;
    int rank, size, step;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    step = argc > 2 ? 1 : size;
    intervals = argc > 1 ? atol(argv[1]) : 1000000;
    width = 1.0 / (double)intervals;
    for (long i = rank; i < intervals && rank < step; i += step) {
        double x = width * ((double)i + 0.5);

        mine += 4.0 / (1.0 + x * x);
    }
    mine *= width;
    MPI_Reduce(&mine, &pi, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0 && fabs(pi - 3.14159265358979) > 1e-6)
        fprintf(stderr, "pi: got %.12f\n", pi);
    MPI_Finalize();
    return 0;
}
