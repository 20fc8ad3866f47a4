/*
 * Regression: lines with constraints, pieces by the information criterion, columns; seeded noise.
 */
#include "calibrate/fit.h"

#include <math.h>

#include "base/rng.h"
#include "tap.h"

#define SEED 20260115

static int near(double a, double b, double relative)
{
    return fabs(a - b) <= relative * fabs(b);
}

/* About normal, variance 1. */
static double normal(struct rng *rng)
{
    double sum = -6;
    for (int i = 0; i < 12; i++)
        sum += rng_double(rng);
    return sum;
}

static void test_weight(void)
{
    double narrow = calibrate_weight(100, 100, 100), wide = calibrate_weight(90, 100, 110);
    ok(near(narrow, 1e-4, 1e-9), "without spread, the weight is that of the relative error");
    ok(wide < narrow / 5, "wide quartiles weigh little");
    ok(calibrate_weight(99, 100, 5000) > narrow / 2, "but not if only slow ones are far");
}

static void test_line(void)
{
    struct calibrate_point exact[] = {{0, 5, 1}, {1, 7, 2}, {10, 25, 1}, {4194304, 8388613, 0.1}};
    struct calibrate_point falling[] = {{0, 10, 1}, {1, 9, 1}, {2, 8, 1}};
    struct calibrate_point steep[] = {{10, 10, 1}, {20, 40, 1}, {30, 70, 1}};
    struct calibrate_point one[] = {{7, 42, 1}};
    struct calibrate_line line;
    calibrate_line_fit(exact, 4, 0, &line);
    ok(near(line.a, 5, 1e-6) && near(line.b, 2, 1e-9), "a line is found");
    ok(line.a_range < 1e-3 && line.b_range < 1e-6, "with a narrow interval");
    calibrate_line_fit(falling, 3, 0, &line);
    ok(line.b == 0 && near(line.a, 9, 1e-12), "it does not fall");
    calibrate_line_fit(steep, 3, 2, &line);
    ok(line.a == 2 && line.b > 1.8 && line.b < 2.3, "it does not begin below the least");
    calibrate_line_fit(one, 1, 0, &line);
    ok(line.a == 42 && line.b == 0 && isinf(line.a_range), "one point is a constant");
}

/* Does the 95% interval hold the truth in about 95 of 100 cases? */
static void test_interval(void)
{
    struct rng rng;
    int a_in = 0, b_in = 0;
    rng_seed(&rng, SEED);
    for (int trial = 0; trial < 400; trial++) {
        struct calibrate_point p[12];
        struct calibrate_line line;
        for (int i = 0; i < 12; i++)
            p[i] = (struct calibrate_point){i, 100 + 3 * i + normal(&rng), 1};
        calibrate_line_fit(p, 12, 0, &line);
        a_in += fabs(line.a - 100) <= line.a_range;
        b_in += fabs(line.b - 3) <= line.b_range;
    }
    diag("seed %d: %d and %d of 400 intervals hold the truth", SEED, a_in, b_in);
    ok(a_in > 366 && a_in < 396, "of the constant");
    ok(b_in > 366 && b_in < 396, "of the slope");
}

static double curve(double x)
{
    return x < 1024 ? 300 + 0.2 * x : x < 65536 ? 500 + 0.1 * x : 5000 + 0.08 * x;
}

static size_t make_points(struct calibrate_point *p, struct rng *rng, double noise)
{
    size_t count = 0;
    p[count++] = (struct calibrate_point){0, curve(0), 1};
    for (double x = 1; x <= 1 << 22; x *= 1.4142135623730951)
        p[count++] = (struct calibrate_point){floor(x), curve(floor(x)), 1};
    for (size_t i = 0; i < count; i++) {
        p[i].y *= 1 + noise * normal(rng);
        p[i].weight = calibrate_weight(p[i].y, p[i].y, p[i].y);
    }
    return count;
}

static void test_pieces(void)
{
    struct calibrate_point p[64];
    struct calibrate_piece pieces[CALIBRATE_PIECES_MAX];
    struct rng rng;
    rng_seed(&rng, SEED);
    size_t count = make_points(p, &rng, 0);
    is_int(calibrate_pieces_fit(p, count, 0, pieces), 3, "three pieces without noise");
    is_int(pieces[0].first, 0, "the first from the first point");
    is_int(p[pieces[1].first].x, 1024, "the second from its break");
    is_int(p[pieces[2].first].x, 65536, "the third from its break");
    ok(near(pieces[0].line.a, 300, 1e-6) && near(pieces[0].line.b, 0.2, 1e-6), "the first line");
    ok(near(pieces[1].line.a, 500, 1e-6) && near(pieces[1].line.b, 0.1, 1e-6), "the second");
    ok(near(pieces[2].line.a, 5000, 1e-6) && near(pieces[2].line.b, 0.08, 1e-6), "the third");
    count = make_points(p, &rng, 0.01);
    size_t found = calibrate_pieces_fit(p, count, 0, pieces);
    ok(found == 3, "three with 1%% of noise (%zu)", found);
    ok(near(pieces[0].line.a, 300, 0.02) && near(pieces[found - 1].line.b, 0.08, 0.03), "and near");
    count = make_points(p, &rng, 0);
    for (size_t i = 0; i < count; i++)
        p[i].y = 7;
    is_int(calibrate_pieces_fit(p, count, 0, pieces), 1, "a constant is one piece");
    is_int(calibrate_pieces_fit(p, 2, 0, pieces), 1, "two points are one piece");
    is_int(calibrate_pieces_fit(p, 0, 0, pieces), 0, "no point, no piece");
    calibrate_pieces_fit(p, count, 9, pieces);
    ok(pieces[0].line.a == 9, "the least holds in pieces, too");
}

static void test_columns(void)
{
    double rows[60], y[20], w[20], c[3], range[3];
    for (int i = 0; i < 20; i++) {
        rows[3 * i] = 1;
        rows[3 * i + 1] = i % 5;
        rows[3 * i + 2] = (double)(i * i) * 1e6;
        y[i] = 4 + 3 * rows[3 * i + 1] + 2e-6 * rows[3 * i + 2];
        w[i] = 1 + i % 3;
    }
    is_int(calibrate_columns_fit(rows, y, w, 20, 3, c, range), 0, "three columns");
    ok(near(c[0], 4, 1e-9) && near(c[1], 3, 1e-9) && near(c[2], 2e-6, 1e-9),
       "and their coefficients");
    ok(range[0] < 1e-6, "with a narrow interval");
    for (int i = 0; i < 20; i++)
        rows[3 * i + 1] = 2 * rows[3 * i];
    is_int(calibrate_columns_fit(rows, y, w, 20, 3, c, range), -1, "equal columns are told");
    is_int(calibrate_columns_fit(rows, y, w, 2, 3, c, range), -1, "and too few rows");
    is_int(calibrate_columns_fit(rows, y, w, 1, 1, c, range), 0, "one row, one column");
    ok(isinf(range[0]), "has no interval");
}

int main(void)
{
    plan_auto();
    test_weight();
    test_line();
    test_interval();
    test_pieces();
    test_columns();
    return done_testing();
}
