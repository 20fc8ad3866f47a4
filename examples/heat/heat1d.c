/*
 * heat1d.c - the one-dimensional heat equation, du/dt = d2u/dx2, on a rod of length 1 whose ends
 * are kept at 0. Explicit finite differences; each rank owns a contiguous piece of the rod.
 *
 * Communication: every iteration exchanges one value with each neighbour; every CHECK_INTERVAL
 * iterations a global maximum says how much the temperature still changes. The rod starts as a
 * sine wave, for which the solution is known: it keeps its shape and decays exponentially.
 *
 * usage: heat1d [CELLS [ITERATIONS]]     exit status 1 if the result is wrong
 */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define CHECK_INTERVAL 10
#define DIFFUSION_NUMBER 0.25 /* dt / dx^2; stable up to 0.5 */
#define CELLS_PER_WAVE 64
#define TOLERANCE 1e-2

enum { TAG_TO_LEFT, TAG_TO_RIGHT };

struct rod {
    long cells;          /* of the whole rod */
    long first, count;   /* the piece of this rank */
    int left, right;     /* neighbours, or MPI_PROC_NULL */
    double dx, dt, wave; /* wave: the wave number of the initial state */
    double *now, *next;  /* count + 2 values: [0] and [count + 1] are copies of the neighbours' */
};

static double position(const struct rod *r, long local)
{
    return (double)(r->first + local) * r->dx;
}

static void rod_init(struct rod *r, long cells, int rank, int size)
{
    long rest = cells % size, waves = cells / CELLS_PER_WAVE;

    r->cells = cells;
    r->count = cells / size + (rank < rest);
    r->first = rank * (cells / size) + (rank < rest ? rank : rest);
    r->left = rank > 0 ? rank - 1 : MPI_PROC_NULL;
    r->right = rank < size - 1 ? rank + 1 : MPI_PROC_NULL;
    r->dx = 1.0 / (double)(cells + 1);
    r->dt = DIFFUSION_NUMBER * r->dx * r->dx;
    r->wave = 2.0 * M_PI * (double)(waves > 0 ? waves : 1);
    r->now = calloc((size_t)r->count + 2, sizeof *r->now);
    r->next = calloc((size_t)r->count + 2, sizeof *r->next);
    if (!r->now || !r->next)
        MPI_Abort(MPI_COMM_WORLD, 2);
    for (long i = 1; i <= r->count; i++)
        r->now[i] = sin(r->wave * position(r, i));
}

static void exchange_halo(struct rod *r)
{
    MPI_Sendrecv(&r->now[1], 1, MPI_DOUBLE, r->left, TAG_TO_LEFT, &r->now[r->count + 1], 1,
                 MPI_DOUBLE, r->right, TAG_TO_LEFT, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv(&r->now[r->count], 1, MPI_DOUBLE, r->right, TAG_TO_RIGHT, &r->now[0], 1,
                 MPI_DOUBLE, r->left, TAG_TO_RIGHT, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* One time step; returns the largest change of a cell of this rank. */
static double step(struct rod *r)
{
    double *swap = r->now, change, largest = 0.0;

    for (long i = 1; i <= r->count; i++) {
        change = DIFFUSION_NUMBER * (r->now[i - 1] - 2.0 * r->now[i] + r->now[i + 1]);
        r->next[i] = r->now[i] + change;
        largest = fmax(largest, fabs(change));
    }
    r->now = r->next;
    r->next = swap;
    return largest;
}

/* The largest deviation from the analytical solution, relative to the height of the wave. */
static double largest_error(const struct rod *r, long iterations)
{
    double height = exp(-r->wave * r->wave * r->dt * (double)iterations);
    double mine = 0.0, all;

    for (long i = 1; i <= r->count; i++)
        mine = fmax(mine, fabs(r->now[i] / height - sin(r->wave * position(r, i))));
    MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return all;
}

int main(int argc, char **argv)
{
    long cells, iterations;
    double start, duration, residual = 0.0, mine, error;
    struct rod rod;
    int rank, size;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    cells = argc > 1 ? atol(argv[1]) : 16L * size;
    iterations = argc > 2 ? atol(argv[2]) : 100;
    if (cells < size || iterations < 0) {
        if (rank == 0)
            fprintf(stderr, "usage: heat1d [CELLS [ITERATIONS]], with a cell for each rank\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    rod_init(&rod, cells, rank, size);

    MPI_Barrier(MPI_COMM_WORLD);
    start = MPI_Wtime();
    for (long i = 1; i <= iterations; i++) {
        exchange_halo(&rod);
        mine = step(&rod);
        if (i % CHECK_INTERVAL == 0)
            MPI_Allreduce(&mine, &residual, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    duration = MPI_Wtime() - start;

    error = largest_error(&rod, iterations);
    if (rank == 0) {
        printf("heat1d: %d ranks, %ld cells, %ld iterations\n", size, cells, iterations);
        printf("  last change  %.3e\n", residual);
        printf("  error        %.3e, %s\n", error,
               error < TOLERANCE ? "agrees with the analytical solution" : "WRONG");
        printf("  MPI_Wtime    %.6f s\n", duration);
    }
    free(rod.now);
    free(rod.next);
    MPI_Finalize();
    return error < TOLERANCE ? 0 : 1;
}
