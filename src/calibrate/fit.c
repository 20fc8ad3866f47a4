/*
 * Regression.
 *
 * The pieces are found by dynamic programming over the last piece: best[k][j] is the least sum of
 * squares of the first j points in k pieces. Sums of squares of all ranges come from one sweep per
 * first point, with running means, so that sizes from 0 to millions lose no digits. The number of
 * pieces is the k with the least
 *
 *     N ln(max(squares / N, FLOOR)) + 3 k ln N
 *
 * (a line and a breakpoint are three parameters; with weights 1 / y^2 squares / N is the square of
 * the relative error, and no fit needs to be better than FLOOR).
 */
#include "calibrate/fit.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/mem.h"

#define FLOOR 1e-6      /* (0.1%)^2 */
#define RELATIVE 0.05   /* relative error that quartiles are compared with */
#define QUARTILES 1.349 /* interquartile range of a normal distribution, in standard deviations */
#define PIECE_LEAST 3   /* points */
#define TINY 1e-12

/* Disturbances only make a machine slower, so its own spread is the narrower half of the
 * quartiles. */
double calibrate_weight(double q1, double median, double q3)
{
    double spread = 2 * fmin(q3 - median, median - q1) / QUARTILES,
           own = RELATIVE * fmax(median, TINY);
    return RELATIVE * RELATIVE / (own * own + spread * spread);
}

/* Two-sided 95%: Student's t by degrees of freedom (Cornish and Fisher's expansion; the first two
 * exact). */
static double student(size_t freedom)
{
    double z = 1.959964, f = (double)freedom, z3 = z * z * z;
    if (freedom == 0)
        return INFINITY;
    if (freedom <= 2)
        return freedom == 1 ? 12.7062 : 4.30265;
    return z + (z3 + z) / (4 * f) + (5 * z3 * z * z + 16 * z3 + 3 * z) / (96 * f * f) +
           (3 * z3 * z3 * z + 19 * z3 * z * z + 17 * z3 - 15 * z) / (384 * f * f * f);
}

/* ---- a line ---- */

/* Running sums: weights, means, and squares about the means. */
struct sums {
    double w, mx, my, xx, xy, yy;
};

static void sums_add(struct sums *s, const struct calibrate_point *p)
{
    double w = s->w + p->weight, part = p->weight / w;
    double dx = p->x - s->mx, dy = p->y - s->my;
    s->mx += dx * part;
    s->my += dy * part;
    s->xx += p->weight * dx * (p->x - s->mx);
    s->xy += p->weight * dx * (p->y - s->my);
    s->yy += p->weight * dy * (p->y - s->my);
    s->w = w;
}

static void solve(const struct sums *s, double a_least, struct calibrate_line *out)
{
    double b = s->xx > 0 ? s->xy / s->xx : 0;
    if (b < 0)
        b = 0;
    double a = s->my - b * s->mx;
    if (a < a_least) {
        double squares = s->xx + s->w * s->mx * s->mx;
        a = a_least;
        b = squares > 0 ? (s->xy + s->w * s->mx * (s->my - a)) / squares : 0;
        if (b < 0)
            b = 0;
    }
    double off = s->my - a - b * s->mx;
    out->a = a;
    out->b = b;
    out->squares = fmax(0, s->yy - 2 * b * s->xy + b * b * s->xx + s->w * off * off);
}

void calibrate_line_fit(const struct calibrate_point *points, size_t count, double a_least,
                        struct calibrate_line *out)
{
    struct sums s = {0};
    assert(count > 0);
    for (size_t i = 0; i < count; i++)
        sums_add(&s, &points[i]);
    solve(&s, a_least, out);
    size_t freedom = count > 2 ? count - 2 : 0;
    out->a_range = out->b_range = INFINITY;
    if (freedom && s.xx > 0) {
        double variance = out->squares / (double)freedom, t = student(freedom);
        out->b_range = t * sqrt(variance / s.xx);
        out->a_range = t * sqrt(variance * (1 / s.w + s.mx * s.mx / s.xx));
    }
}

/* ---- pieces ---- */

struct programme {
    const struct calibrate_point *points;
    size_t count, least; /* points; of a piece */
    double *squares;     /* [first][last] */
    double *best;        /* [pieces][points] */
    size_t *from;        /* first point of the last piece of best */
};

static void fill_squares(struct programme *g, double a_least)
{
    for (size_t first = 0; first < g->count; first++) {
        struct sums s = {0};
        for (size_t last = first; last < g->count; last++) {
            struct calibrate_line line;
            sums_add(&s, &g->points[last]);
            solve(&s, a_least, &line);
            g->squares[first * g->count + last] = line.squares;
        }
    }
}

/* May a piece begin at point i? Not between points with equal x: each piece begins after the
 * previous one. */
static int may_begin(const struct programme *g, size_t i)
{
    return i == 0 || g->points[i].x > g->points[i - 1].x;
}

/* best[k] from best[k - 1]; k = 0 has no points. */
static void fill_best(struct programme *g, size_t k)
{
    size_t width = g->count + 1;
    for (size_t j = 0; j < width; j++) {
        double least = INFINITY;
        for (size_t i = 0; i + g->least <= j; i++) {
            double all = g->best[(k - 1) * width + i] + g->squares[i * g->count + j - 1];
            if (all < least && may_begin(g, i)) {
                least = all;
                g->from[k * width + j] = i;
            }
        }
        g->best[k * width + j] = least;
    }
}

static size_t choose(const struct programme *g)
{
    double n = (double)g->count, least = INFINITY;
    size_t chosen = 1;
    for (size_t k = 1; k <= CALIBRATE_PIECES_MAX; k++) {
        double squares = g->best[k * (g->count + 1) + g->count];
        double criterion = n * log(fmax(squares / n, FLOOR)) + 3 * (double)k * log(n);
        if (criterion < least) {
            least = criterion;
            chosen = k;
        }
    }
    return chosen;
}

size_t calibrate_pieces_fit(const struct calibrate_point *points, size_t count, double a_least,
                            struct calibrate_piece out[CALIBRATE_PIECES_MAX])
{
    size_t width = count + 1, rows = CALIBRATE_PIECES_MAX + 1;
    struct programme g = {.points = points,
                          .count = count,
                          .least = count < PIECE_LEAST ? count : PIECE_LEAST};
    if (count == 0)
        return 0;
    g.squares = mem_alloc(count * count * sizeof *g.squares);
    g.best = mem_alloc(rows * width * sizeof *g.best);
    g.from = mem_zalloc(rows * width * sizeof *g.from);
    fill_squares(&g, a_least);
    for (size_t j = 0; j < width; j++)
        g.best[j] = j ? INFINITY : 0;
    for (size_t k = 1; k < rows; k++)
        fill_best(&g, k);
    size_t pieces = choose(&g), end = count;
    for (size_t k = pieces; k > 0; k--) {
        size_t first = g.from[k * width + end];
        out[k - 1].first = first;
        out[k - 1].count = end - first;
        calibrate_line_fit(points + first, end - first, a_least, &out[k - 1].line);
        end = first;
    }
    mem_free(g.squares);
    mem_free(g.best);
    mem_free(g.from);
    return pieces;
}

/* ---- columns ---- */

/* Turns m into its inverse (Gauss and Jordan); 0, or -1 if there is none. */
static int invert(double m[CALIBRATE_COLUMNS_MAX][CALIBRATE_COLUMNS_MAX], size_t n)
{
    double out[CALIBRATE_COLUMNS_MAX][CALIBRATE_COLUMNS_MAX] = {{0}};
    for (size_t i = 0; i < n; i++)
        out[i][i] = 1;
    for (size_t c = 0; c < n; c++) {
        size_t pivot = c;
        for (size_t r = c + 1; r < n; r++)
            if (fabs(m[r][c]) > fabs(m[pivot][c]))
                pivot = r;
        if (fabs(m[pivot][c]) < 1e-9) /* the diagonal began as 1 */
            return -1;
        for (size_t k = 0; k < n; k++) {
            double x = m[c][k], y = out[c][k];
            m[c][k] = m[pivot][k], m[pivot][k] = x;
            out[c][k] = out[pivot][k], out[pivot][k] = y;
        }
        double scale = m[c][c];
        for (size_t k = 0; k < n; k++)
            m[c][k] /= scale, out[c][k] /= scale;
        for (size_t r = 0; r < n; r++) {
            double factor = r == c ? 0 : m[r][c];
            for (size_t k = 0; k < n; k++)
                m[r][k] -= factor * m[c][k], out[r][k] -= factor * out[c][k];
        }
    }
    memcpy(m, out, sizeof out);
    return 0;
}

int calibrate_columns_fit(const double *rows, const double *y, const double *weight, size_t count,
                          size_t columns, double coefficient[CALIBRATE_COLUMNS_MAX],
                          double range[CALIBRATE_COLUMNS_MAX])
{
    double m[CALIBRATE_COLUMNS_MAX][CALIBRATE_COLUMNS_MAX] = {{0}},
           right[CALIBRATE_COLUMNS_MAX] = {0};
    double scale[CALIBRATE_COLUMNS_MAX] = {0}, squares = 0;
    for (size_t i = 0; i < count; i++)
        for (size_t a = 0; a < columns; a++)
            scale[a] += weight[i] * rows[i * columns + a] * rows[i * columns + a];
    for (size_t a = 0; a < columns; a++)
        if (!((scale[a] = sqrt(scale[a])) > 0))
            return -1;
    for (size_t i = 0; i < count; i++)
        for (size_t a = 0; a < columns; a++) {
            double left = weight[i] * rows[i * columns + a] / scale[a];
            right[a] += left * y[i];
            for (size_t b = 0; b < columns; b++)
                m[a][b] += left * rows[i * columns + b] / scale[b];
        }
    if (count < columns || invert(m, columns))
        return -1;
    for (size_t a = 0; a < columns; a++) {
        coefficient[a] = 0;
        for (size_t b = 0; b < columns; b++)
            coefficient[a] += m[a][b] * right[b] / scale[a];
    }
    for (size_t i = 0; i < count; i++) {
        double off = y[i];
        for (size_t a = 0; a < columns; a++)
            off -= coefficient[a] * rows[i * columns + a];
        squares += weight[i] * off * off;
    }
    for (size_t a = 0; a < columns; a++)
        range[a] = count == columns
                       ? INFINITY
                       : student(count - columns) *
                             sqrt(squares / (double)(count - columns) * m[a][a]) / scale[a];
    return 0;
}
