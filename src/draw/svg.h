/*
 * svg.h - pictures: a few shapes, written as self-contained SVG 1.1.
 *
 * Coordinates are pixels, y downwards. Colours are texts as in CSS. Texts are escaped. Nothing
 * fails.
 */
#ifndef DRAW_SVG_H
#define DRAW_SVG_H

#include <stddef.h>

#include "base/buf.h"

#define SVG_COLOUR_MAX 8 /* "#rrggbb" */

struct svg {
    struct buf *out; /* borrowed */
};

enum svg_anchor { SVG_START, SVG_MIDDLE, SVG_END };

/* Opens a picture of that size with a white ground, or a dark one where the reader prefers that
 * (CSS prefers-color-scheme): the colours that pictures are made of then have others in their
 * place; title and description are for readers that cannot see it. */
void svg_begin(struct svg *, struct buf *out, double width, double height, const char *title,
               const char *description);
void svg_end(struct svg *);

void svg_line(struct svg *, double x1, double y1, double x2, double y2, const char *colour,
              double width, int dashed);
/* A line bent to one side by `bend` of its length. */
void svg_curve(struct svg *, double x1, double y1, double x2, double y2, double bend,
               const char *colour, double width, int dashed);
/* `fill` and `stroke` may be "none". */
void svg_box(struct svg *, double x, double y, double width, double height, double radius,
             const char *fill, const char *stroke);
void svg_circle(struct svg *, double x, double y, double radius, const char *fill,
                const char *stroke);
/* Pairs of x and y. */
void svg_polyline(struct svg *, const double *xy, size_t points, const char *colour, double width);
void svg_text(struct svg *, double x, double y, double size, enum svg_anchor, const char *colour,
              const char *text);
void svg_textf(struct svg *, double x, double y, double size, enum svg_anchor, const char *colour,
               const char *fmt, ...) __attribute__((format(printf, 7, 8)));

/* A text centred at x with an outline in the background colour, so that it is readable on lines,
 * too. */
void svg_label(struct svg *, double x, double y, double size, const char *colour, const char *fmt,
               ...) __attribute__((format(printf, 6, 7)));

/* Dashes that distinguish coinciding series besides their colours: each line has gaps in which the
 * earlier ones are visible. "": none. Static. */
const char *svg_dashes(size_t i);
/* A line in those dashes. */
void svg_line_dashes(struct svg *, double x1, double y1, double x2, double y2, const char *colour,
                     double width, const char *dashes);
/* A mark for a value, of a shape for each series; from the second on it is hollow. */
void svg_mark(struct svg *, double x, double y, double radius, size_t i, const char *colour);

/* A colour for 0 (dark blue) to 1 (yellow), also distinguishable in grey and by colour-blind
 * readers. */
void svg_scale(double value, char out[SVG_COLOUR_MAX]);
/* Colours for series, as distinguishable as possible; they repeat. Static. */
const char *svg_series(size_t i);

#endif
