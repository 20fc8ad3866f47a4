/*
 * bt.c - block-tridiagonal solver: a system of five coupled diffusion equations in three
 * dimensions, stepped to its steady state by alternating directions, with multi-partitioning and
 * non-blocking exchange.
 *
 * With q * q ranks the grid is cut into q * q * q cells, and each rank has q of them on a
 * diagonal: rank (i, j) has the cells (i + c, j + c, c), modulo q. So each slab of cells across
 * any direction has one cell of every rank, and a solve along that direction, which goes from
 * slab to slab, keeps all ranks busy at all times. The neighbours of all cells of a rank in one
 * direction belong to one rank:
 *
 *     x: (i + 1, j)     y: (i, j + 1)     z: (i - 1, j - 1)
 *
 * A step exchanges the faces of all cells with six neighbours, then solves along x, y and z:
 * forward elimination hands a 5 x 5 matrix and a vector for every line to the next slab, back
 * substitution a vector to the one before. The number of ranks must be a square.
 */
#include <math.h>

#include "kernel.h"

#define M 5 /* equations */
#define MATRIX (M * M)
#define LINE (MATRIX + M) /* doubles of a line that elimination hands on */
#define AXES 3
#define DT 0.3
#define FIRST_STEPS 2
#define TOLERANCE 1e-5

static const struct {
    int edge, steps;
} size_of_class[] = {{8, 60}, {12, 60}, {20, 60}, {32, 60}, {48, 60}};

struct cell {
    int at[AXES];      /* which cell */
    int first[AXES];   /* its first point */
    int n[AXES];       /* points */
    double *u, *r, *f; /* M for each point; u has a border of one point, f is the source */
    double *c;         /* what elimination leaves above the diagonal, MATRIX for each point */
};

struct solver {
    int n, q;
    int next[AXES], before[AXES]; /* neighbours */
    struct cell *cells;           /* q */
    double *out, *in;             /* room for faces of all cells in all directions */
    size_t face;                  /* points of the largest face of a cell */
};

static size_t point(const struct cell *c, int x, int y, int z)
{
    return ((size_t)z * c->n[1] + y) * c->n[0] + x;
}

static size_t bordered(const struct cell *c, int x, int y, int z)
{
    return ((size_t)(z + 1) * (c->n[1] + 2) + y + 1) * (c->n[0] + 2) + x + 1;
}

/* ---- the problem ---- */

static double solution(int n, const int *at, int m)
{
    double product = 1 + m;
    for (int a = 0; a < AXES; a++)
        product *= sin((at[a] + 1) * acos(-1) / (n + 1) * (1 + (m + a) % 2));
    return product;
}

/* How equations are coupled at a point: more than half of each row is on the diagonal. */
static void coupling(const struct solver *s, const int *at, double *k)
{
    double here = 0.5 * kernel_uniform(((uint64_t)at[2] * s->n + at[1]) * s->n + at[0]);
    for (int i = 0; i < M; i++)
        for (int j = 0; j < M; j++)
            k[i * M + j] = i == j ? 2 : (i > j ? 0.2 : -0.2) * here;
}

static void locate(const struct cell *c, int x, int y, int z, int *at)
{
    at[0] = c->first[0] + x, at[1] = c->first[1] + y, at[2] = c->first[2] + z;
}

/* The right side of the steady state: what the operator makes of the solution. */
static double source(const struct solver *s, const int *at, const double *k, int m)
{
    double sum = 0, here = solution(s->n, at, m);
    for (int j = 0; j < M; j++)
        sum += k[m * M + j] * solution(s->n, at, j);
    for (int a = 0; a < AXES; a++)
        sum += here * (2 - 2 * cos(acos(-1) / (s->n + 1) * (1 + (m + a) % 2)));
    return sum;
}

static void fill(const struct solver *s, struct cell *c)
{
    double k[MATRIX], *f = c->f;
    int at[AXES];
    for (int z = 0; z < c->n[2]; z++)
        for (int y = 0; y < c->n[1]; y++)
            for (int x = 0; x < c->n[0]; x++) {
                locate(c, x, y, z, at);
                coupling(s, at, k);
                for (int m = 0; m < M; m++)
                    *f++ = source(s, at, k, m);
            }
}

/* ---- faces ---- */

/* Copies one face of a cell between the cell and a buffer; returns where the buffer goes on.
 * `depth` 0 and n - 1 are the outermost points, -1 and n the border. */
static double *copy_face(struct cell *c, int axis, int depth, double *buffer, int is_reading)
{
    int a = axis == 0 ? 1 : 0, b = axis == 2 ? 1 : 2, at[AXES];
    at[axis] = depth;
    for (at[b] = 0; at[b] < c->n[b]; at[b]++)
        for (at[a] = 0; at[a] < c->n[a]; at[a]++) {
            double *u = c->u + bordered(c, at[0], at[1], at[2]) * M;
            memcpy(is_reading ? buffer : u, is_reading ? u : buffer, M * sizeof *u);
            buffer += M;
        }
    return buffer;
}

/* Faces of all cells towards one side, without those at the boundary of the grid. */
static int copy_side(struct solver *s, int axis, int is_upper, double *buffer, int is_reading)
{
    double *next = buffer;
    for (int i = 0; i < s->q; i++) {
        struct cell *c = &s->cells[i];
        int depth = is_upper ? c->n[axis] - is_reading : is_reading - 1;
        if (c->at[axis] != (is_upper ? s->q - 1 : 0))
            next = copy_face(c, axis, depth, next, is_reading);
    }
    return (int)(next - buffer);
}

static void exchange(struct solver *s)
{
    MPI_Request requests[4 * AXES];
    size_t room = s->face * M * s->q;
    if (s->q == 1)
        return;
    for (int i = 0; i < 2 * AXES; i++) {
        int from = i % 2 ? s->next[i / 2] : s->before[i / 2];
        MPI_Irecv(s->in + i * room, (int)room, MPI_DOUBLE, from, i, MPI_COMM_WORLD, &requests[i]);
    }
    for (int i = 0; i < 2 * AXES; i++) {
        int to = i % 2 ? s->next[i / 2] : s->before[i / 2];
        int count = copy_side(s, i / 2, i % 2, s->out + i * room, 1);
        MPI_Isend(s->out + i * room, count, MPI_DOUBLE, to, i ^ 1, MPI_COMM_WORLD,
                  &requests[2 * AXES + i]);
    }
    MPI_Waitall(4 * AXES, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < 2 * AXES; i++)
        copy_side(s, i / 2, i % 2, s->in + i * room, 0);
}

/* ---- a step ---- */

static void residual_at(const struct solver *s, struct cell *c, int x, int y, int z)
{
    size_t b = bordered(c, x, y, z), row = (size_t)c->n[0] + 2, plane = row * (c->n[1] + 2);
    const double *u = c->u + b * M,
                 *around[] = {u - M, u + M, u - row * M, u + row * M, u - plane * M, u + plane * M};
    const double *f = c->f + point(c, x, y, z) * M;
    double *r = c->r + point(c, x, y, z) * M, k[MATRIX];
    int at[AXES];
    locate(c, x, y, z, at);
    coupling(s, at, k);
    for (int m = 0; m < M; m++) {
        double sum = f[m] - 6 * u[m];
        for (int i = 0; i < 6; i++)
            sum += around[i][m];
        for (int j = 0; j < M; j++)
            sum -= k[m * M + j] * u[j];
        r[m] = DT * sum;
    }
}

/* Solves b * [c r] = [a r] in place, where a is `off` times the unit matrix; b is dominated by
 * its diagonal. */
static void solve_block(double *b, double off, double *c, double *r)
{
    for (int i = 0; i < MATRIX; i++)
        c[i] = i % (M + 1) == 0 ? off : 0;
    for (int i = 0; i < M; i++) {
        double pivot = 1 / b[i * M + i];
        for (int j = i + 1; j < M; j++)
            b[i * M + j] *= pivot;
        for (int j = 0; j < M; j++)
            c[i * M + j] *= pivot;
        r[i] *= pivot;
        for (int k = 0; k < M; k++) {
            double factor = b[k * M + i];
            if (k == i)
                continue;
            for (int j = i + 1; j < M; j++)
                b[k * M + j] -= factor * b[i * M + j];
            for (int j = 0; j < M; j++)
                c[k * M + j] -= factor * c[i * M + j];
            r[k] -= factor * r[i];
        }
    }
}

/* Eliminates a point, after the one before it on its line, if any. */
static void eliminate(const struct solver *s, struct cell *c, const int *at, const double *before_c,
                      const double *before_r)
{
    size_t here = point(c, at[0], at[1], at[2]);
    double b[MATRIX], *r = c->r + here * M;
    int global[AXES];
    locate(c, at[0], at[1], at[2], global);
    coupling(s, global, b);
    for (int i = 0; i < MATRIX; i++)
        b[i] = DT / AXES * b[i] + (i % (M + 1) == 0 ? 1 + 2 * DT : 0);
    if (before_c) {
        for (int i = 0; i < MATRIX; i++)
            b[i] += DT * before_c[i];
        for (int i = 0; i < M; i++)
            r[i] += DT * before_r[i];
    }
    solve_block(b, -DT, c->c + here * MATRIX, r);
}

static void substitute(struct cell *c, const int *at, const double *after)
{
    size_t here = point(c, at[0], at[1], at[2]);
    const double *above = c->c + here * MATRIX;
    double *r = c->r + here * M;
    for (int i = 0; i < M; i++)
        for (int j = 0; j < M; j++)
            r[i] -= above[i * M + j] * after[j];
}

/* A line of a cell, from its first point or its last. */
static void forward_line(const struct solver *s, struct cell *c, int axis, int *at,
                         const double *arrived, double *out)
{
    const double *before_c = arrived, *before_r = arrived ? arrived + MATRIX : NULL;
    for (at[axis] = 0; at[axis] < c->n[axis]; at[axis]++) {
        size_t here = point(c, at[0], at[1], at[2]);
        eliminate(s, c, at, before_c, before_r);
        before_c = c->c + here * MATRIX;
        before_r = c->r + here * M;
    }
    memcpy(out, before_c, MATRIX * sizeof *out);
    memcpy(out + MATRIX, before_r, M * sizeof *out);
}

static void backward_line(struct cell *c, int axis, int *at, const double *arrived, double *out)
{
    const double *after = arrived;
    for (at[axis] = c->n[axis] - 1; at[axis] >= 0; at[axis]--) {
        if (after)
            substitute(c, at, after);
        after = c->r + point(c, at[0], at[1], at[2]) * M;
    }
    memcpy(out, after, M * sizeof *out);
}

static struct cell *find_cell(struct solver *s, int axis, int slab)
{
    struct cell *c = s->cells;
    while (c->at[axis] != slab)
        c++;
    return c;
}

/* Computes the lines of a cell, from what has arrived for them, or nothing. */
static void solve_cell(const struct solver *s, struct cell *c, int axis, int is_forward,
                       const double *arrived, double *out)
{
    int a = axis == 0 ? 1 : 0, b = axis == 2 ? 1 : 2, width = is_forward ? LINE : M, at[AXES];
    for (at[b] = 0; at[b] < c->n[b]; at[b]++)
        for (at[a] = 0; at[a] < c->n[a]; at[a]++, out += width) {
            if (is_forward)
                forward_line(s, c, axis, at, arrived, out);
            else
                backward_line(c, axis, at, arrived, out);
            arrived = arrived ? arrived + width : NULL;
        }
}

/* Goes from slab to slab. The receive for the next slab is posted before this one is computed,
 * and what was sent may be in flight until its buffer is needed again: there are two of each. */
static void sweep(struct solver *s, int axis, int is_forward)
{
    int width = is_forward ? LINE : M, tag = 2 * AXES + 2 * axis + is_forward;
    int from = is_forward ? s->before[axis] : s->next[axis];
    int to = is_forward ? s->next[axis] : s->before[axis];
    MPI_Request arriving[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    MPI_Request leaving[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    size_t half = s->face * LINE;
    for (int i = 0; i < s->q; i++) {
        struct cell *c = find_cell(s, axis, is_forward ? i : s->q - 1 - i);
        int lines = c->n[0] * c->n[1] * c->n[2] / c->n[axis];
        double *in = s->in + i % 2 * half, *out = s->out + i % 2 * half;
        if (i + 1 < s->q)
            MPI_Irecv(s->in + (i + 1) % 2 * half, (int)(s->face * width), MPI_DOUBLE, from, tag,
                      MPI_COMM_WORLD, &arriving[(i + 1) % 2]);
        MPI_Wait(&arriving[i % 2], MPI_STATUS_IGNORE);
        MPI_Wait(&leaving[i % 2], MPI_STATUS_IGNORE);
        solve_cell(s, c, axis, is_forward, i > 0 ? in : NULL, out);
        if (i + 1 < s->q)
            MPI_Isend(out, lines * width, MPI_DOUBLE, to, tag, MPI_COMM_WORLD, &leaving[i % 2]);
    }
    MPI_Waitall(2, leaving, MPI_STATUSES_IGNORE);
}

static void step(struct solver *s)
{
    exchange(s);
    for (int i = 0; i < s->q; i++) {
        struct cell *c = &s->cells[i];
        for (int z = 0; z < c->n[2]; z++)
            for (int y = 0; y < c->n[1]; y++)
                for (int x = 0; x < c->n[0]; x++)
                    residual_at(s, c, x, y, z);
    }
    for (int axis = 0; axis < AXES; axis++) {
        sweep(s, axis, 1);
        sweep(s, axis, 0);
    }
    for (int i = 0; i < s->q; i++) {
        struct cell *c = &s->cells[i];
        for (int z = 0; z < c->n[2]; z++)
            for (int y = 0; y < c->n[1]; y++)
                for (int x = 0; x < c->n[0]; x++)
                    for (int m = 0; m < M; m++)
                        c->u[bordered(c, x, y, z) * M + m] += c->r[point(c, x, y, z) * M + m];
    }
}

/* ---- set-up and result ---- */

static int modulo(int i, int q)
{
    return (i % q + q) % q;
}

static void place(struct solver *s, const struct kernel *k)
{
    int q = s->q, i = k->rank / q, j = k->rank % q;
    const int move[AXES][2] = {{1, 0}, {0, 1}, {-1, -1}};
    for (int a = 0; a < AXES; a++) {
        s->next[a] = modulo(i + move[a][0], q) * q + modulo(j + move[a][1], q);
        s->before[a] = modulo(i - move[a][0], q) * q + modulo(j - move[a][1], q);
    }
    s->cells = kernel_alloc((size_t)q, sizeof *s->cells);
    for (int c = 0; c < q; c++) {
        struct cell *cell = &s->cells[c];
        const int at[AXES] = {(i + c) % q, (j + c) % q, c};
        size_t points = 1, with_border = 1;
        for (int a = 0; a < AXES; a++) {
            cell->at[a] = at[a];
            cell->first[a] = (int)kernel_cut(s->n, q, at[a]);
            cell->n[a] = (int)kernel_cut(s->n, q, at[a] + 1) - cell->first[a];
            points *= (size_t)cell->n[a];
            with_border *= (size_t)cell->n[a] + 2;
        }
        cell->u = kernel_alloc(with_border * M, sizeof *cell->u);
        cell->r = kernel_alloc(points * M, sizeof *cell->r);
        cell->f = kernel_alloc(points * M, sizeof *cell->f);
        cell->c = kernel_alloc(points * MATRIX, sizeof *cell->c);
        fill(s, cell);
    }
    /* for faces towards six sides, or for two halves of a sweep */
    size_t edge = (size_t)(s->n + q - 1) / q, sides = 2 * AXES * M * (size_t)q;
    size_t room = sides > 2 * LINE ? sides : 2 * LINE;
    s->face = edge * edge;
    s->out = kernel_alloc(s->face * room, sizeof *s->out);
    s->in = kernel_alloc(s->face * room, sizeof *s->in);
}

static void clear(struct solver *s)
{
    for (int c = 0; c < s->q; c++) {
        free(s->cells[c].u);
        free(s->cells[c].r);
        free(s->cells[c].f);
        free(s->cells[c].c);
    }
    free(s->cells);
    free(s->out);
    free(s->in);
}

/* Adds the points of a cell to a checksum; the largest error so far. */
static double look_at(const struct solver *s, const struct cell *c, double most, uint64_t *checksum)
{
    for (int z = 0; z < c->n[2]; z++)
        for (int y = 0; y < c->n[1]; y++)
            for (int x = 0; x < c->n[0]; x++)
                for (int m = 0; m < M; m++) {
                    int at[AXES];
                    locate(c, x, y, z, at);
                    double u = c->u[bordered(c, x, y, z) * M + m],
                           error = fabs(u - solution(s->n, at, m));
                    *checksum += kernel_mark((((uint64_t)at[2] * s->n + at[1]) * s->n + at[0]) * M +
                                                 m,
                                             u);
                    most = error > most ? error : most;
                }
    return most;
}

static double error_of(const struct solver *s, uint64_t *checksum)
{
    double most = 0, all = INFINITY;
    for (int c = 0; c < s->q; c++)
        most = look_at(s, &s->cells[c], most, checksum);
    MPI_Allreduce(&most, &all, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return all;
}

int main(int argc, char **argv)
{
    struct kernel k = kernel_init("bt", &argc, &argv);
    struct solver s = {.n = size_of_class[k.class].edge, .q = (int)lround(sqrt(k.size))};
    uint64_t checksum = 0;
    if (s.q * s.q != k.size || s.q > s.n)
        kernel_refuse(
            &k, "the number of ranks must be a square, and its root at most the edge of the grid");
    place(&s, &k);
    for (int i = 0; i < FIRST_STEPS; i++)
        step(&s);
    error_of(&s, &checksum); /* far from the solution, where it depends on every message */

    kernel_start(&k);
    for (int i = 0; i < size_of_class[k.class].steps; i++)
        step(&s);
    kernel_stop(&k);

    int right = error_of(&s, &checksum) < TOLERANCE;
    clear(&s);
    return kernel_finish(&k, checksum, right);
}
