/*
 * A front that moves through a grid of ranks: each step, ranks near the front compute longer, then
 * all exchange borders with their four neighbours. Every tenth step ends with a sum over all ranks.
 */
#include <math.h>
#include <mpi.h>
#include <orrery.h>
#include <stdio.h>
#include <stdlib.h>

enum { STEPS = 60, BORDER = 4096 };

/* Computing takes 0.2 ms, and up to 1 ms more where the front is. */
static void compute(int row, int rows, int step)
{
    double front = (double)step / STEPS * rows, distance = fabs(row - front);
    orrery_region("update");
    orrery_compute(2e-4 + 1e-3 * exp(-distance * distance / 4));
    orrery_region_end();
}

static void exchange(MPI_Comm grid, double (*out)[BORDER], double (*in)[BORDER])
{
    MPI_Request requests[8];
    MPI_Status statuses[8];
    for (int dim = 0, k = 0; dim < 2; dim++) {
        int neighbours[2];
        MPI_Cart_shift(grid, dim, 1, &neighbours[0], &neighbours[1]);
        for (int side = 0; side < 2; side++, k++) {
            MPI_Irecv(in[k], BORDER, MPI_DOUBLE, neighbours[side], dim, grid, &requests[k]);
            MPI_Isend(out[k], BORDER, MPI_DOUBLE, neighbours[!side], dim, grid, &requests[4 + k]);
        }
    }
    MPI_Waitall(8, requests, statuses);
}

int main(int argc, char **argv)
{
    int rank, size, dims[2] = {0, 0}, periods[2] = {1, 1}, at[2];
    double one = 1, sum = 0, (*borders)[BORDER] = calloc(8, sizeof *borders);
    MPI_Comm grid;
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Dims_create(size, 2, dims);
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &grid);
    MPI_Comm_rank(grid, &rank);
    MPI_Cart_coords(grid, rank, 2, at);
    for (int step = 0; step < STEPS; step++) {
        compute(at[0], dims[0], step);
        exchange(grid, borders, borders + 4);
        if (step % 10 == 9)
            MPI_Allreduce(&one, &sum, 1, MPI_DOUBLE, MPI_SUM, grid);
    }
    if (rank == 0)
        printf("%d steps on %g ranks\n", STEPS, sum);
    free(borders);
    MPI_Comm_free(&grid);
    MPI_Finalize();
    return 0;
}
