/*
 * jacobi.c - Jacobi iterations on a square of N x N cells, heated along one side. Each rank owns a
 * band of rows, exchanges its first and last row with its neighbours, and every tenth iteration all
 * agree on the change.
 *
 * usage: jacobi [N [ITERATIONS]]     exit status 1 if the heat does not spread as it should
 */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK_EVERY 10

struct band {
    int n, rows, above, below;
};

static void exchange(const struct band *b, double *v)
{
    size_t n = (size_t)b->n;
    MPI_Request requests[4];
    MPI_Irecv(v, b->n, MPI_DOUBLE, b->above, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(v + ((size_t)b->rows + 1) * n, b->n, MPI_DOUBLE, b->below, 0, MPI_COMM_WORLD,
              &requests[1]);
    MPI_Isend(v + n, b->n, MPI_DOUBLE, b->above, 0, MPI_COMM_WORLD, &requests[2]);
    MPI_Isend(v + (size_t)b->rows * n, b->n, MPI_DOUBLE, b->below, 0, MPI_COMM_WORLD, &requests[3]);
    for (int i = 0; i < 4; i++)
        MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
}

/* One iteration; returns the largest change of this rank. */
static double relax(const struct band *b, const double *from, double *to)
{
    double most = 0;
    for (int i = 1; i <= b->rows; i++) {
        const double *row = from + (size_t)i * (size_t)b->n;
        double *out = to + (size_t)i * (size_t)b->n;
        for (int j = 1; j < b->n - 1; j++) {
            out[j] = 0.25 * (row[j - 1] + row[j + 1] + row[j - b->n] + row[j + b->n]);
            most = fmax(most, fabs(out[j] - row[j]));
        }
    }
    return most;
}

int main(int argc, char **argv)
{
    int rank, size, n = argc > 1 ? atoi(argv[1]) : 1000,
                    iterations = argc > 2 ? atoi(argv[2]) : 200;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    struct band b = {n, n / size + (rank < n % size), rank ? rank - 1 : MPI_PROC_NULL,
                     rank < size - 1 ? rank + 1 : MPI_PROC_NULL};
    size_t cells = ((size_t)b.rows + 2) * (size_t)n;
    double *v = calloc(cells, sizeof *v), *next = calloc(cells, sizeof *next), change = 0,
           first = 0;
    if (!v || !next)
        MPI_Abort(MPI_COMM_WORLD, 2);
    for (int j = 0; rank == 0 && j < n; j++)
        v[j] = next[j] = 1; /* the hot side */
    for (int i = 1; i <= iterations; i++) {
        exchange(&b, v);
        if (rank == 0)
            for (int j = 0; j < n; j++)
                v[j] = 1;
        double mine = relax(&b, v, next), *swap = v;
        v = next, next = swap;
        if (i == 1 || i % CHECK_EVERY == 0) {
            MPI_Allreduce(&mine, &change, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
            first = i == 1 ? change : first;
        }
    }
    int ok = first == 0.25 && change > 0 && change < first;
    if (rank == 0)
        printf("%s: change %.3g after %d iterations\n", ok ? "correct" : "wrong", change,
               iterations);
    MPI_Finalize();
    return !ok;
}
