/*
 * fit.h - regression: a line, pieces of lines, and a few columns.
 *
 * All are weighted least squares. Half-widths of intervals are those of 95% confidence by Student's
 * t, from the standard errors of the residuals; INFINITY if there are too few points.
 */
#ifndef CALIBRATE_FIT_H
#define CALIBRATE_FIT_H

#include <stddef.h>

struct calibrate_point {
    double x, y, weight; /* weight > 0 */
};

/* y = a + b x. */
struct calibrate_line {
    double a, b;
    double a_range, b_range; /* half-widths */
    double squares;          /* weighted sum of squared residuals */
};

/* The weight of a measured median: for its relative error, less if the quartiles are wide. */
double calibrate_weight(double q1, double median, double q3);

/* The best line with a >= a_least and b >= 0; count > 0. */
void calibrate_line_fit(const struct calibrate_point *, size_t count, double a_least,
                        struct calibrate_line *);

#define CALIBRATE_PIECES_MAX 8

/* One piece of a piecewise line: the points from `first`. */
struct calibrate_piece {
    size_t first, count;
    struct calibrate_line line;
};

/* Divides points, sorted by x, into as many pieces as the Bayesian information criterion justifies,
 * each of at least 3 points if there are enough, and each beginning at a larger x than the previous
 * one. Returns how many. O(count^2) time and memory. */
size_t calibrate_pieces_fit(const struct calibrate_point *, size_t count, double a_least,
                            struct calibrate_piece out[CALIBRATE_PIECES_MAX]);

#define CALIBRATE_COLUMNS_MAX 3

/* y = sum of coefficient * column; rows of `columns` numbers each. Returns 0, or -1 if the columns
 * do not determine the coefficients. */
int calibrate_columns_fit(const double *rows, const double *y, const double *weight, size_t count,
                          size_t columns, double coefficient[CALIBRATE_COLUMNS_MAX],
                          double range[CALIBRATE_COLUMNS_MAX]);

#endif
