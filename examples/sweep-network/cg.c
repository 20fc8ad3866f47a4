/*
 * cg.c - conjugate gradients for the Poisson equation on a square of N x N cells (five-point
 * stencil, zero outside). Each rank owns a band of rows.
 *
 * Communication: every iteration exchanges a row of N values with both neighbours and makes two
 * reductions of one value over all ranks. Computation is declared (orrery.h): FLOPS per cell and
 * iteration on a processor of SPEED per second. The right-hand side is that of the solution 1.
 *
 * usage: cg [N [ITERATIONS]]     exit status 1 if the solution is wrong
 */
#include <math.h>
#include <mpi.h>
#include <orrery.h>
#include <stdio.h>
#include <stdlib.h>

#define FLOPS 19.0
#define SPEED 2e9

enum { TAG_UP, TAG_DOWN };

struct band {
    int n;            /* cells of a row */
    int rows;         /* of this rank */
    int above, below; /* neighbours, or MPI_PROC_NULL */
};

/* Vectors have a row of the neighbour before and behind the own ones. */
static double *make_vector(const struct band *b)
{
    double *v = calloc((size_t)(b->rows + 2) * (size_t)b->n, sizeof *v);

    if (!v)
        MPI_Abort(MPI_COMM_WORLD, 2);
    return v;
}

static double *row(const struct band *b, double *v, int i)
{
    return v + (size_t)(i + 1) * (size_t)b->n;
}

static void exchange(const struct band *b, double *v)
{
    MPI_Sendrecv(row(b, v, 0), b->n, MPI_DOUBLE, b->above, TAG_UP, row(b, v, b->rows), b->n,
                 MPI_DOUBLE, b->below, TAG_UP, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv(row(b, v, b->rows - 1), b->n, MPI_DOUBLE, b->below, TAG_DOWN, row(b, v, -1), b->n,
                 MPI_DOUBLE, b->above, TAG_DOWN, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* out = A v */
static void apply(const struct band *b, double *v, double *out)
{
    exchange(b, v);
    for (int i = 0; i < b->rows; i++) {
        const double *up = row(b, v, i - 1), *here = row(b, v, i), *down = row(b, v, i + 1);

        for (int k = 0; k < b->n; k++)
            row(b, out, i)[k] = 4 * here[k] - up[k] - down[k] - (k > 0 ? here[k - 1] : 0) -
                                (k + 1 < b->n ? here[k + 1] : 0);
    }
}

static double dot(const struct band *b, double *v, double *w)
{
    const double *x = row(b, v, 0), *y = row(b, w, 0);
    double mine = 0, all;

    for (size_t i = 0; i < (size_t)b->rows * (size_t)b->n; i++)
        mine += x[i] * y[i];
    MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return all;
}

/* v = a v + c w */
static void combine(const struct band *b, double a, double *v, double c, double *w)
{
    double *x = row(b, v, 0);
    const double *y = row(b, w, 0);

    for (size_t i = 0; i < (size_t)b->rows * (size_t)b->n; i++)
        x[i] = a * x[i] + c * y[i];
}

/* The largest difference from the solution, which is 1 everywhere, before and after. */
static double solve(const struct band *b, int iterations)
{
    double *x = make_vector(b), *r = make_vector(b), *p = make_vector(b), *q = make_vector(b);
    double worst = 0, all;

    for (size_t i = 0; i < (size_t)b->rows * (size_t)b->n; i++)
        row(b, p, 0)[i] = 1;
    apply(b, p, r);
    combine(b, 0, p, 1, r);
    double rr = dot(b, r, r);
    for (int i = 0; i < iterations && rr > 0; i++) {
        apply(b, p, q);
        double alpha = rr / dot(b, p, q);
        combine(b, 1, x, alpha, p);
        combine(b, 1, r, -alpha, q);
        double before = rr;
        rr = dot(b, r, r);
        combine(b, rr / before, p, 1, r);
        orrery_compute(FLOPS * b->rows * b->n / SPEED);
    }
    for (size_t i = 0; i < (size_t)b->rows * (size_t)b->n; i++)
        worst = fmax(worst, fabs(row(b, x, 0)[i] - 1));
    MPI_Reduce(&worst, &all, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    free(x), free(r), free(p), free(q);
    return all;
}

int main(int argc, char **argv)
{
    struct band b = {.n = argc > 1 ? atoi(argv[1]) : 64};
    int iterations = argc > 2 ? atoi(argv[2]) : 120, rank, size, wrong = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    b.rows = b.n / size + (rank < b.n % size);
    b.above = rank > 0 ? rank - 1 : MPI_PROC_NULL;
    b.below = rank + 1 < size ? rank + 1 : MPI_PROC_NULL;
    if (b.n < size || iterations < 1) {
        if (rank == 0)
            fprintf(stderr, "usage: cg [N [ITERATIONS]], N at least the number of ranks\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    double start = MPI_Wtime(), worst = solve(&b, iterations), seconds = MPI_Wtime() - start;
    if (rank == 0) {
        wrong = !(worst < 1e-3);
        printf("cg: %d x %d cells, %d iterations, %.6f s, largest error %.1e: %s\n", b.n, b.n,
               iterations, seconds, worst, wrong ? "wrong" : "correct");
    }
    MPI_Finalize();
    return wrong;
}
