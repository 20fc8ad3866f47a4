/*
 * axes.h - the axes of a diagram: positions of values, ticks, frame, grid and labels.
 */
#ifndef DRAW_AXES_H
#define DRAW_AXES_H

#include "draw/svg.h"

#define AXES_TEXT 12.0 /* size of the numbers at ticks */
#define AXES_GRID "#dddddd"
#define AXES_INK "#333333"
#define AXES_TICKS_MAX 12

struct axis {
    double least, most; /* least < most; > 0 if logarithmic */
    int logarithmic;
    const char *label;
    const char *unit; /* as for axes_value: numbers at ticks have prefixes; NULL: plain numbers */
};

/* Values between the least and most of each axis are within the frame. */
struct axes {
    double left, top, width, height; /* of the frame, in pixels */
    struct axis x, y;
};

struct axes_ticks {
    double at[AXES_TICKS_MAX];
    size_t count;
};

/* Where a value is, in pixels. */
double axes_x(const struct axes *, double value);
double axes_y(const struct axes *, double value);

/* Appends a value with its unit: 1e-05 of "s" is "10 us". "s", "bit/s" and "B" get prefixes; "" or
 * NULL: a plain number. */
void axes_value(double value, const char *unit, struct buf *out);

/* The distance between ticks: 1, 2 or 5 times a power of ten, for about six ticks. */
double axes_step(double span);
/* Round numbers: multiples of axes_step, or powers of ten, with 2 and 5 times those if there are
 * few. */
void axes_round_ticks(const struct axis *, struct axes_ticks *);

/* The grid line at a value of x. */
void axes_draw_grid_x(struct svg *, const struct axes *, double value);
/* Grid lines and numbers, of x or of y. */
void axes_draw_ticks_x(struct svg *, const struct axes *, const struct axes_ticks *);
void axes_draw_ticks_y(struct svg *, const struct axes *, const struct axes_ticks *);
/* The frame, the label of y above it, that of x `below` pixels below it. */
void axes_draw_frame(struct svg *, const struct axes *, double below);
/* Everything, with round ticks. */
void axes_draw(struct svg *, const struct axes *);
/* A line through `points` pairs of values. */
void axes_draw_line(struct svg *, const struct axes *, const double *xy, size_t points,
                    const char *colour);

#endif
