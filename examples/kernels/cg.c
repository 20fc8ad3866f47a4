/*
 * cg.c - conjugate gradients: a sparse system of equations whose matrix has no structure to
 * exploit.
 *
 * Ranks form a rectangle of R rows and C columns; rank (r, c) has the block of the matrix where
 * row block r and column block c meet. Vectors are cut into R * C pieces, one for each rank. The
 * pieces of a row of ranks are its row block, the pieces of a column of ranks its column block.
 * So a product of matrix and vector is: get the column block from the ranks of one's column (a
 * ring), multiply, and add up the row block among the ranks of one's row, each its own piece.
 * Inner products are sums over all ranks. The number of ranks must be a power of two.
 */
#include <math.h>

#include "kernel.h"

#define FAR 12 /* distances at which a row has elements, on both sides */
#define TOLERANCE 1e-9

static const struct {
    int64_t n;
    int steps;
} size_of_class[] = {{1 << 10, 25}, {1 << 13, 25}, {1 << 16, 25}, {1 << 18, 25}, {1 << 20, 25}};

struct block {
    int64_t n, piece;               /* rows of the matrix, and of a piece */
    int rows, columns, row, column; /* of ranks; own */
    MPI_Comm in_row, in_column;
    int64_t *start; /* of the elements of each row, and the end */
    int32_t *index; /* into the column block */
    double *value;
    double *whole;   /* a column block */
    double *partial; /* a row block, of which others have parts, too */
    double *arrived; /* a piece */
};

/* ---- the matrix ---- */

static int64_t far(int i, int64_t n)
{
    return 1 + (int64_t)(kernel_hash((uint64_t)i + 77) % (uint64_t)(n / 2 - 1));
}

/* Element (i, j), the same for (j, i). */
static double element(int64_t i, int64_t j, int which)
{
    int64_t low = i < j ? i : j, high = i < j ? j : i;
    return -kernel_uniform(((uint64_t)low << 32 | (uint64_t)high) * FAR + (uint64_t)which);
}

/* Calls add for each element of a row; the diagonal is twice the sum of all others. */
static void visit_row(int64_t i, int64_t n, void (*add)(void *, int64_t column, double value),
                      void *context)
{
    double sum = 0;
    for (int k = 0; k < 2 * FAR; k++) {
        int64_t distance = far(k / 2, n), j = (i + (k % 2 ? distance : n - distance)) % n;
        double value = element(i, j, k / 2);
        sum -= value;
        add(context, j, value);
    }
    add(context, i, 2 * sum);
}

/* Whose piece a row is in, as a row and column of ranks. */
static int row_of(const struct block *b, int64_t i)
{
    return (int)(i / b->piece / b->columns);
}

static int column_of(const struct block *b, int64_t i)
{
    return (int)(i / b->piece % b->columns);
}

struct building {
    struct block *b;
    int64_t next;
    int is_counting;
};

static void build_element(void *context, int64_t column, double value)
{
    struct building *to = context;
    struct block *b = to->b;
    if (column_of(b, column) != b->column)
        return;
    if (!to->is_counting) {
        b->index[to->next] = (int32_t)(row_of(b, column) * b->piece + column % b->piece);
        b->value[to->next] = value;
    }
    to->next++;
}

static void build(struct block *b)
{
    int64_t count = b->piece * b->columns, first = b->row * count;
    b->start = kernel_alloc((size_t)count + 1, sizeof *b->start);
    for (int is_counting = 1; is_counting >= 0; is_counting--) {
        struct building to = {b, 0, is_counting};
        for (int64_t i = 0; i < count; i++) {
            b->start[i] = to.next;
            visit_row(first + i, b->n, build_element, &to);
        }
        b->start[count] = to.next;
        if (is_counting) {
            b->index = kernel_alloc((size_t)to.next, sizeof *b->index);
            b->value = kernel_alloc((size_t)to.next, sizeof *b->value);
        }
    }
}

/* ---- communication ---- */

/* Pieces go round among the ranks of a column until each has all of them. */
static void get_column(struct block *b, const double *own)
{
    int n = (int)b->piece, next = (b->row + 1) % b->rows, before = (b->row + b->rows - 1) % b->rows;
    memcpy(b->whole + b->row * b->piece, own, (size_t)n * sizeof *own);
    for (int i = 0; i + 1 < b->rows; i++) {
        int out = (b->row + b->rows - i) % b->rows, in = (before + b->rows - i) % b->rows;
        MPI_Sendrecv(b->whole + out * b->piece, n, MPI_DOUBLE, next, 0, b->whole + in * b->piece, n,
                     MPI_DOUBLE, before, 0, b->in_column, MPI_STATUS_IGNORE);
    }
}

/* Each rank of a row adds up its own piece of what all have computed. */
static void add_row(struct block *b, double *own)
{
    int n = (int)b->piece;
    memcpy(own, b->partial + b->column * b->piece, (size_t)n * sizeof *own);
    for (int i = 1; i < b->columns; i++) {
        int to = (b->column + i) % b->columns, from = (b->column + b->columns - i) % b->columns;
        MPI_Request arriving;
        MPI_Irecv(b->arrived, n, MPI_DOUBLE, from, i, b->in_row, &arriving);
        MPI_Send(b->partial + to * b->piece, n, MPI_DOUBLE, to, i, b->in_row);
        MPI_Wait(&arriving, MPI_STATUS_IGNORE);
        for (int k = 0; k < n; k++)
            own[k] += b->arrived[k];
    }
}

static void multiply(struct block *b, const double *x, double *out)
{
    get_column(b, x);
    for (int64_t i = 0; i < b->piece * b->columns; i++) {
        double sum = 0;
        for (int64_t k = b->start[i]; k < b->start[i + 1]; k++)
            sum += b->value[k] * b->whole[b->index[k]];
        b->partial[i] = sum;
    }
    add_row(b, out);
}

static double inner(const struct block *b, const double *x, const double *y)
{
    double sum = 0, all;
    for (int64_t i = 0; i < b->piece; i++)
        sum += x[i] * y[i];
    MPI_Allreduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return all;
}

/* ---- the problem ---- */

static double solution(int64_t i)
{
    return 1 + (double)(i % 7) / 8;
}

static void add_product(void *context, int64_t column, double value)
{
    *(double *)context += value * solution(column);
}

/* The right side is computed by each rank for itself, without the products above. */
static void fill(const struct block *b, int64_t first, double *out)
{
    for (int64_t i = 0; i < b->piece; i++) {
        out[i] = 0;
        visit_row(first + i, b->n, add_product, &out[i]);
    }
}

/* Solves A x = r, where x is 0 and r the right side. */
static void solve(struct block *b, int steps, double *x, double *r, double *p, double *q)
{
    double square = inner(b, r, r);
    memcpy(p, r, (size_t)b->piece * sizeof *p);
    for (int step = 0; step < steps; step++) {
        multiply(b, p, q);
        double along = square / inner(b, p, q), before = square;
        for (int64_t i = 0; i < b->piece; i++) {
            x[i] += along * p[i];
            r[i] -= along * q[i];
        }
        square = inner(b, r, r);
        for (int64_t i = 0; i < b->piece; i++)
            p[i] = r[i] + square / before * p[i];
    }
}

static void place(struct block *b, const struct kernel *k)
{
    int dims[2] = {0, 0};
    if (k->size & (k->size - 1) || k->size > b->n)
        kernel_refuse(
            k,
            "the number of ranks must be a power of two, and at most that of rows of the matrix");
    MPI_Dims_create(k->size, 2, dims);
    b->rows = dims[1], b->columns = dims[0];
    b->row = k->rank / b->columns, b->column = k->rank % b->columns;
    b->piece = b->n / k->size;
    MPI_Comm_split(MPI_COMM_WORLD, b->row, b->column, &b->in_row);
    MPI_Comm_split(MPI_COMM_WORLD, b->column, b->row, &b->in_column);
}

int main(int argc, char **argv)
{
    struct kernel k = kernel_init("cg", &argc, &argv);
    struct block b = {.n = size_of_class[k.class].n};
    place(&b, &k);
    build(&b);
    b.whole = kernel_alloc((size_t)(b.piece * b.rows), sizeof *b.whole);
    b.partial = kernel_alloc((size_t)(b.piece * b.columns), sizeof *b.partial);
    b.arrived = kernel_alloc((size_t)b.piece, sizeof *b.arrived);
    double *vectors = kernel_alloc(4 * (size_t)b.piece, sizeof *vectors);
    double *x = vectors, *r = x + b.piece, *p = r + b.piece, *q = p + b.piece;
    int64_t first = k.rank * b.piece;
    fill(&b, first, r);

    kernel_start(&k);
    solve(&b, size_of_class[k.class].steps, x, r, p, q);
    kernel_stop(&k);

    double most = 0;
    uint64_t checksum = 0;
    for (int64_t i = 0; i < b.piece; i++) {
        double error = fabs(x[i] - solution(first + i));
        most = error > most ? error : most;
        checksum += kernel_mark((uint64_t)(first + i),
                                nearbyint(x[i] * 1e6)); /* order of sums is invisible here */
    }
    MPI_Comm_free(&b.in_row);
    MPI_Comm_free(&b.in_column);
    free(b.start);
    free(b.index);
    free(b.value);
    free(b.whole);
    free(b.partial);
    free(b.arrived);
    free(vectors);
    return kernel_finish(&k, checksum, most < TOLERANCE);
}
