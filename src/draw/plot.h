/*
 * plot.h - a diagram: series of values over an axis of numbers or of names.
 */
#ifndef DRAW_PLOT_H
#define DRAW_PLOT_H

#include <stddef.h>

#include "base/buf.h"

enum plot_scale {
    /* Logarithmic if all values are above 0 and the largest is 20 times the least, or more. */
    PLOT_AUTO,
    PLOT_LINEAR,
    PLOT_LOG, /* as PLOT_LINEAR if a value is not above 0 */
};

struct plot_axis {
    const char *label;
    const char *unit; /* as axes_value takes it (axes.h) */
    enum plot_scale scale;
    const char *const
        *names; /* for x only: names of positions 0, 1, ... instead of numbers; NULL: numbers */
    size_t name_count;
};

enum plot_marks { PLOT_BOTH, PLOT_LINE, PLOT_DOTS };

struct plot_series {
    const char *name; /* for the legend, which is drawn if any series has a name; NULL: not in it */
    const double *xy; /* pairs of x and y; a pair that is not finite is a gap */
    size_t points;
    enum plot_marks marks;
};

struct plot {
    const char *title, *description; /* the latter for readers who cannot see it */
    struct plot_axis x, y;
    const struct plot_series *series;
    size_t count;
};

/* Appends the diagram as an SVG picture: frame, grid, ticks, series in their order, legend. A
 * linear y axis begins at 0 if no value is below. O(values). */
void draw_plot(const struct plot *, struct buf *out);

#endif
