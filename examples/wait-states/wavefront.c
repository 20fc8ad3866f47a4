/*
 * A wavefront: every rank updates its cells, exchanges borders with its neighbours, and all agree
 * on a sum. One rank has more to do in `assemble`; with the argument "balanced" all have the same.
 */
#include <mpi.h>
#include <orrery.h>
#include <stdio.h>
#include <string.h>

enum { STEPS = 20, CELLS = 512 };

static void work(const char *name, double seconds)
{
    orrery_region(name);
    orrery_compute(seconds);
    orrery_region_end();
}

int main(int argc, char **argv)
{
    double border[2][CELLS] = {{0}}, mine[CELLS] = {1}, sum = 0;
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int is_balanced = argc > 1 && strcmp(argv[1], "balanced") == 0;
    int left = rank > 0 ? rank - 1 : MPI_PROC_NULL,
        right = rank + 1 < size ? rank + 1 : MPI_PROC_NULL;
    for (int step = 0; step < STEPS; step++) {
        work("assemble", rank == size / 2 && !is_balanced ? 3e-3 : 1e-3);
        work("solve", 2e-3);
        MPI_Sendrecv(mine, CELLS, MPI_DOUBLE, right, 0, border[0], CELLS, MPI_DOUBLE, left, 0,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Sendrecv(mine, CELLS, MPI_DOUBLE, left, 1, border[1], CELLS, MPI_DOUBLE, right, 1,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        double part = border[0][0] + border[1][0] + 1;
        MPI_Allreduce(&part, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
    if (rank == 0)
        printf("sum %g\n", sum);
    MPI_Finalize();
    return 0;
}
