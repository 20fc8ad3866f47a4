/*
 * ft.c - Fourier transform: a wave packet in three dimensions spreads in time.
 *
 * The grid is divided into slabs of planes. A transform works on the two directions within
 * planes, turns the grid by an all-to-all exchange so that the third is within a slab, too, and
 * works on that (MPI_Alltoall). Every step multiplies the spectrum by the solution of the heat
 * equation for that time and transforms it back. The number of ranks must be a power of two, at
 * most the edge of the grid.
 */
#include <complex.h>
#include <math.h>

#include "kernel.h"

#define TOLERANCE 1e-10

static const struct {
    int edge, steps;
} size_of_class[] = {{16, 3}, {32, 6}, {64, 6}, {128, 6}, {256, 6}};

struct grid {
    int n, planes, first; /* own planes, of n */
    int ranks;
    double complex *at, *turned,
        *packed;                  /* [plane][row][column]; `turned`: planes are former columns */
    double complex *roots, *line; /* roots of unity; room for a line */
};

/* ---- one line ---- */

static void swap_bits(double complex *x, int n)
{
    for (int i = 1, j = 0; i < n; i++) {
        int bit = n >> 1;
        for (; j & bit; bit >>= 1)
            j ^= bit;
        j ^= bit;
        if (i < j) {
            double complex t = x[i];
            x[i] = x[j];
            x[j] = t;
        }
    }
}

/* In place; `sign` -1 transforms, 1 transforms back without dividing. */
static void transform(double complex *x, int n, const double complex *roots, int sign)
{
    swap_bits(x, n);
    for (int half = 1; half < n; half *= 2)
        for (int start = 0; start < n; start += 2 * half)
            for (int i = 0; i < half; i++) {
                double complex w = roots[i * (n / 2 / half)];
                double complex a = x[start + i], b = x[start + i + half];
                double re = creal(w), im = sign < 0 ? -cimag(w) : cimag(w);
                double complex turned = CMPLX(creal(b) * re - cimag(b) * im,
                                              creal(b) * im + cimag(b) * re);
                x[start + i] = a + turned;
                x[start + i + half] = a - turned;
            }
}

/* All lines of planes in one direction, whose elements are `stride` apart. */
static void transform_lines(struct grid *g, double complex *at, int stride, int sign)
{
    int n = g->n;
    for (int plane = 0; plane < g->planes; plane++)
        for (int i = 0; i < n; i++) {
            double complex *start = at + (size_t)plane * n * n + (stride == 1 ? i * n : i);
            for (int j = 0; j < n; j++)
                g->line[j] = start[(size_t)j * stride];
            transform(g->line, n, g->roots, sign);
            for (int j = 0; j < n; j++)
                start[(size_t)j * stride] = g->line[j];
        }
}

/* ---- all lines ---- */

/* Exchanges planes and columns: to[x][y][z] of own x = from[z][y][x] of all z. It is its own
 * inverse. */
static void turn(struct grid *g, const double complex *from, double complex *to)
{
    int n = g->n, p = g->planes;
    size_t block = (size_t)p * n * p, next = 0;
    for (int r = 0; r < g->ranks; r++)
        for (int x = 0; x < p; x++)
            for (int y = 0; y < n; y++)
                for (int z = 0; z < p; z++)
                    g->packed[next++] = from[((size_t)z * n + y) * n + r * p + x];
    MPI_Alltoall(g->packed, 2 * (int)block, MPI_DOUBLE, to, 2 * (int)block, MPI_DOUBLE,
                 MPI_COMM_WORLD);
    memcpy(g->packed, to, block * g->ranks * sizeof *to);
    next = 0;
    for (int r = 0; r < g->ranks; r++)
        for (int x = 0; x < p; x++)
            for (int y = 0; y < n; y++)
                for (int z = 0; z < p; z++)
                    to[((size_t)x * n + y) * n + r * p + z] = g->packed[next++];
}

/* From `at` to `turned`. */
static void forward(struct grid *g)
{
    transform_lines(g, g->at, 1, -1);
    transform_lines(g, g->at, g->n, -1);
    turn(g, g->at, g->turned);
    transform_lines(g, g->turned, 1, -1);
}

/* From `spectrum`, which is used up, to `at`. */
static void backward(struct grid *g, double complex *spectrum)
{
    double scale = 1.0 / ((double)g->n * g->n * g->n);
    size_t count = (size_t)g->planes * g->n * g->n;
    transform_lines(g, spectrum, 1, 1);
    turn(g, spectrum, g->at);
    transform_lines(g, g->at, g->n, 1);
    transform_lines(g, g->at, 1, 1);
    for (size_t i = 0; i < count; i++)
        g->at[i] *= scale;
}

/* ---- the problem ---- */

static double complex initial(const struct grid *g, int plane, int row, int column)
{
    uint64_t index = ((uint64_t)(g->first + plane) * g->n + row) * g->n + column;
    return CMPLX(kernel_uniform(2 * index), kernel_uniform(2 * index + 1));
}

static int distance(int i, int n)
{
    return i < n / 2 ? i : i - n;
}

/* The spectrum after a number of steps. Planes of it are columns of the grid. */
static void evolve(const struct grid *g, double complex *out, int step)
{
    int n = g->n;
    size_t next = 0;
    for (int x = 0; x < g->planes; x++)
        for (int y = 0; y < n; y++)
            for (int z = 0; z < n; z++, next++) {
                int a = distance(g->first + x, n), b = distance(y, n), c = distance(z, n);
                out[next] = g->turned[next] * exp(-1e-4 * step * (a * a + b * b + c * c));
            }
}

static void fill(struct grid *g)
{
    size_t next = 0;
    for (int plane = 0; plane < g->planes; plane++)
        for (int row = 0; row < g->n; row++)
            for (int column = 0; column < g->n; column++)
                g->at[next++] = initial(g, plane, row, column);
}

/* Without time the packet is as it was; the largest difference of any number says so. */
static int is_initial(struct grid *g)
{
    double most = 0;
    size_t next = 0;
    for (int plane = 0; plane < g->planes; plane++)
        for (int row = 0; row < g->n; row++)
            for (int column = 0; column < g->n; column++) {
                double error = cabs(g->at[next++] - initial(g, plane, row, column));
                most = error > most ? error : most;
            }
    return kernel_all(most < TOLERANCE);
}

/* The sum of squares of all numbers, which a transform changes only by a factor. */
static double energy_of(const struct grid *g, const double complex *at)
{
    size_t count = (size_t)g->planes * g->n * g->n;
    double sum = 0, all = NAN;
    for (size_t i = 0; i < count; i++)
        sum += creal(at[i]) * creal(at[i]) + cimag(at[i]) * cimag(at[i]);
    MPI_Allreduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return all;
}

static uint64_t checksum_of(const struct grid *g)
{
    size_t count = (size_t)g->planes * g->n * g->n;
    uint64_t sum = 0, before = (uint64_t)g->first * g->n * g->n;
    for (size_t i = 0; i < count; i++)
        sum += kernel_mark(2 * (before + i), creal(g->at[i])) +
               kernel_mark(2 * (before + i) + 1, cimag(g->at[i]));
    return sum;
}

int main(int argc, char **argv)
{
    struct kernel k = kernel_init("ft", &argc, &argv);
    int n = size_of_class[k.class].edge, steps = size_of_class[k.class].steps;
    struct grid g = {.n = n, .planes = n / k.size, .first = n / k.size * k.rank, .ranks = k.size};
    if (k.size & (k.size - 1) || k.size > n)
        kernel_refuse(
            &k, "the number of ranks must be a power of two, and at most the edge of the grid");
    size_t count = (size_t)g.planes * n * n;
    g.at = kernel_alloc(count, sizeof *g.at);
    g.turned = kernel_alloc(count, sizeof *g.at);
    g.packed = kernel_alloc(count, sizeof *g.at);
    double complex *spectrum = kernel_alloc(count, sizeof *g.at);
    g.line = kernel_alloc((size_t)n, sizeof *g.line);
    g.roots = kernel_alloc((size_t)n / 2, sizeof *g.roots);
    for (int i = 0; i < n / 2; i++)
        g.roots[i] = cexp(2 * acos(-1) * I * i / n);
    int right = 1;

    fill(&g);
    kernel_start(&k);
    forward(&g);
    for (int step = 1; step <= steps; step++) {
        evolve(&g, spectrum, step);
        double before = energy_of(&g, spectrum);
        backward(&g, spectrum);
        double after = energy_of(&g, g.at) * n * n * n;
        right &= fabs(after - before) <= TOLERANCE * before;
    }
    kernel_stop(&k);

    uint64_t checksum = checksum_of(&g);
    evolve(&g, spectrum, 0);
    backward(&g, spectrum);
    right &= is_initial(&g);
    free(g.at);
    free(g.turned);
    free(g.packed);
    free(spectrum);
    free(g.line);
    free(g.roots);
    return kernel_finish(&k, checksum, right);
}
