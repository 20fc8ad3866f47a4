/*
 * lu.c - a wavefront: symmetric Gauss-Seidel sweeps through a grid of three dimensions.
 *
 * Ranks form a rectangle and have columns of the grid. A sweep goes through the grid plane by
 * plane; in each plane a rank needs the new values of its northern and western neighbours, and
 * hands its own to the southern and eastern ones: small messages, and ranks that work like a
 * front. The second half of a step goes back the other way. Values are computed in the order of
 * one rank alone, so the result is the same to the last bit. Any number of ranks, as long as none
 * is left without a column.
 */
#include <math.h>

#include "kernel.h"

static const struct {
    int edge, steps;
} size_of_class[] = {{12, 40}, {24, 50}, {48, 50}, {96, 50}, {160, 50}};

#define DIAGONAL 7.0 /* more than 6 neighbours, so steps converge fast on any grid */
#define FIRST_STEPS 3
#define TOLERANCE 1e-8

enum { NORTH, SOUTH, WEST, EAST, SIDES };

struct part {
    int n;            /* edge of the whole grid */
    int x, y, nx, ny; /* own columns: the first, and how many */
    int near[SIDES];  /* ranks, or MPI_PROC_NULL */
    double *u, *f;    /* [z][y][x] with a border of one */
    double *row;      /* room for one side of a plane */
};

static size_t at(const struct part *p, int x, int y, int z)
{
    return ((size_t)(z + 1) * (p->ny + 2) + y + 1) * (p->nx + 2) + x + 1;
}

/* ---- messages ---- */

/* Copies a side of a plane between the grid and a row; `border` is just outside of the part. */
static int copy_side(struct part *p, int side, int z, int is_border, int is_reading)
{
    int is_row = side == NORTH || side == SOUTH, count = is_row ? p->nx : p->ny;
    int fixed = side == NORTH || side == WEST ? -is_border
                                              : (is_row ? p->ny : p->nx) - 1 + is_border;
    for (int i = 0; i < count; i++) {
        double *value = &p->u[is_row ? at(p, i, fixed, z) : at(p, fixed, i, z)];
        if (is_reading)
            p->row[i] = *value;
        else
            *value = p->row[i];
    }
    return count;
}

static void receive(struct part *p, int side, int z, int tag)
{
    int count = side == NORTH || side == SOUTH ? p->nx : p->ny;
    if (p->near[side] == MPI_PROC_NULL)
        return;
    MPI_Recv(p->row, count, MPI_DOUBLE, p->near[side], tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    copy_side(p, side, z, 1, 0);
}

static void send(struct part *p, int side, int z, int tag)
{
    if (p->near[side] != MPI_PROC_NULL)
        MPI_Send(p->row, copy_side(p, side, z, 0, 1), MPI_DOUBLE, p->near[side], tag,
                 MPI_COMM_WORLD);
}

/* ---- sweeps ---- */

static void relax(struct part *p, int x, int y, int z)
{
    size_t i = at(p, x, y, z), row = (size_t)p->nx + 2, plane = row * (p->ny + 2);
    double *u = p->u;
    u[i] = (p->f[i] + u[i - 1] + u[i + 1] + u[i - row] + u[i + row] + u[i - plane] + u[i + plane]) /
           DIAGONAL;
}

static void sweep_down(struct part *p)
{
    for (int z = 0; z < p->n; z++) {
        receive(p, NORTH, z, 0);
        receive(p, WEST, z, 0);
        for (int y = 0; y < p->ny; y++)
            for (int x = 0; x < p->nx; x++)
                relax(p, x, y, z);
        send(p, SOUTH, z, 0);
        send(p, EAST, z, 0);
    }
}

static void sweep_up(struct part *p)
{
    for (int z = p->n - 1; z >= 0; z--) {
        receive(p, SOUTH, z, 1);
        receive(p, EAST, z, 1);
        for (int y = p->ny - 1; y >= 0; y--)
            for (int x = p->nx - 1; x >= 0; x--)
                relax(p, x, y, z);
        send(p, NORTH, z, 1);
        send(p, WEST, z, 1);
    }
}

/* ---- the problem ---- */

/* The solution, and with it the right side: a product of sines solves the equation of differences
 * exactly. */
static double solution(const struct part *p, int x, int y, int z)
{
    double angle = acos(-1) / (p->n + 1);
    return sin((p->x + x + 1) * angle) * sin((p->y + y + 1) * angle) * sin((z + 1) * angle);
}

static void fill(struct part *p)
{
    double factor = DIAGONAL - 6 * cos(acos(-1) / (p->n + 1));
    for (int z = 0; z < p->n; z++)
        for (int y = 0; y < p->ny; y++)
            for (int x = 0; x < p->nx; x++)
                p->f[at(p, x, y, z)] = factor * solution(p, x, y, z);
}

static double error_of(const struct part *p)
{
    double most = 0, all = INFINITY;
    for (int z = 0; z < p->n; z++)
        for (int y = 0; y < p->ny; y++)
            for (int x = 0; x < p->nx; x++) {
                double error = fabs(p->u[at(p, x, y, z)] - solution(p, x, y, z));
                most = error > most ? error : most;
            }
    MPI_Allreduce(&most, &all, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return all;
}

static uint64_t checksum_of(const struct part *p)
{
    uint64_t sum = 0;
    for (int z = 0; z < p->n; z++)
        for (int y = 0; y < p->ny; y++)
            for (int x = 0; x < p->nx; x++)
                sum += kernel_mark(((uint64_t)z * p->n + p->y + y) * p->n + p->x + x,
                                   p->u[at(p, x, y, z)]);
    return sum;
}

static void place(struct part *p, const struct kernel *k)
{
    int dims[2] = {0, 0};
    MPI_Dims_create(k->size, 2, dims);
    if (dims[0] > p->n || dims[1] > p->n)
        kernel_refuse(k, "more ranks than columns of the grid");
    int row = k->rank / dims[1], column = k->rank % dims[1];
    p->y = (int)kernel_cut(p->n, dims[0], row);
    p->x = (int)kernel_cut(p->n, dims[1], column);
    p->ny = (int)kernel_cut(p->n, dims[0], row + 1) - p->y;
    p->nx = (int)kernel_cut(p->n, dims[1], column + 1) - p->x;
    p->near[NORTH] = row > 0 ? k->rank - dims[1] : MPI_PROC_NULL;
    p->near[SOUTH] = row + 1 < dims[0] ? k->rank + dims[1] : MPI_PROC_NULL;
    p->near[WEST] = column > 0 ? k->rank - 1 : MPI_PROC_NULL;
    p->near[EAST] = column + 1 < dims[1] ? k->rank + 1 : MPI_PROC_NULL;
}

int main(int argc, char **argv)
{
    struct kernel k = kernel_init("lu", &argc, &argv);
    struct part p = {.n = size_of_class[k.class].edge};
    int steps = size_of_class[k.class].steps;
    place(&p, &k);
    size_t count = (size_t)(p.nx + 2) * (p.ny + 2) * (p.n + 2);
    p.u = kernel_alloc(count, sizeof *p.u);
    p.f = kernel_alloc(count, sizeof *p.f);
    p.row = kernel_alloc((size_t)p.n, sizeof *p.row);
    fill(&p);
    for (int step = 0; step < FIRST_STEPS; step++) {
        sweep_down(&p);
        sweep_up(&p);
    }
    uint64_t checksum = checksum_of(
        &p); /* far from the solution, where it depends on every message */

    kernel_start(&k);
    for (int step = 0; step < steps; step++) {
        sweep_down(&p);
        sweep_up(&p);
    }
    kernel_stop(&k);

    int right = error_of(&p) < TOLERANCE;
    checksum += checksum_of(&p);
    free(p.u);
    free(p.f);
    free(p.row);
    return kernel_finish(&k, checksum, right);
}
