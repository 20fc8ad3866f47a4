/*
 * halo2d.c - halo exchange on a square periodic grid of ranks, with an allreduce in each iteration:
 * the communication of many solvers, without their computation.
 *
 * usage: halo2d ITERATIONS [WIDTH]     WIDTH doubles per side, 16 unless given; the number of ranks
 *                                      must be a square
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define MAX_WIDTH 1024

enum { WEST, EAST, NORTH, SOUTH, SIDES };

static int side_of(int size)
{
    int side = 1;

    while (side * side < size)
        side++;
    return side;
}

static void find_neighbours(int rank, int side, int *neighbour)
{
    int x = rank % side, y = rank / side;

    neighbour[WEST] = y * side + (x + side - 1) % side;
    neighbour[EAST] = y * side + (x + 1) % side;
    neighbour[NORTH] = (y + side - 1) % side * side + x;
    neighbour[SOUTH] = (y + 1) % side * side + x;
}

static void exchange(const int *neighbour, int width, double *out, double *in)
{
    MPI_Request request[2 * SIDES];

    for (int k = 0; k < SIDES; k++)
        MPI_Irecv(in + k * width, width, MPI_DOUBLE, neighbour[k], k, MPI_COMM_WORLD, &request[k]);
    for (int k = 0; k < SIDES; k++) /* what goes west arrives from the east */
        MPI_Isend(out + k * width, width, MPI_DOUBLE, neighbour[k], k ^ 1, MPI_COMM_WORLD,
                  &request[SIDES + k]);
    MPI_Waitall(2 * SIDES, request, MPI_STATUSES_IGNORE);
}

int main(int argc, char **argv)
{
    int rank, size, iterations, width, neighbour[SIDES], wrong = 0;
    double *out, *in, sum, total = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    iterations = argc > 1 ? atoi(argv[1]) : 1;
    width = argc > 2 ? atoi(argv[2]) : 16;
    if (width < 1 || width > MAX_WIDTH || side_of(size) * side_of(size) != size)
        MPI_Abort(MPI_COMM_WORLD, 2);
    find_neighbours(rank, side_of(size), neighbour);
    out = calloc((size_t)width * SIDES, sizeof *out);
    in = calloc((size_t)width * SIDES, sizeof *in);
    if (!out || !in)
        MPI_Abort(MPI_COMM_WORLD, 2);
    for (int i = 0; i < iterations; i++) {
        for (int k = 0; k < SIDES; k++)
            out[k * width] = rank + i;
        exchange(neighbour, width, out, in);
        sum = 0.0;
        for (int k = 0; k < SIDES; k++) {
            wrong |= in[k * width] != neighbour[k] + i;
            sum += in[k * width];
        }
        MPI_Allreduce(&sum, &total, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        wrong |= total != 4.0 * size * ((size - 1) / 2.0 + i);
    }
    if (wrong)
        fprintf(stderr, "halo2d: rank %d got wrong numbers\n", rank);
    free(out);
    free(in);
    MPI_Finalize();
    return wrong;
}
