/*
 * plot.c - draws diagrams. The bounds of an axis come from the values; its ticks are the values
 * themselves if there are few, otherwise round numbers.
 *
 *     title
 *     label of y
 *     +-----------------+  -o- series
 *     |      frame      |  -o- series
 *     +-----------------+
 *       label of x
 */
#include "draw/plot.h"

#include <math.h>
#include <string.h>

#include "draw/axes.h"

#define FRAME_LEFT 84.0
#define FRAME_TOP 64.0
#define FRAME_WIDTH 520.0
#define FRAME_HEIGHT 320.0
#define BELOW 64.0
#define LETTER 7.4 /* mean width of a character of that size */
#define LINE 18.0  /* of the legend */
#define LEGEND_MAX 17
#define TICK_ROOM 44.0

/* ---- bounds ---- */

static int is_point(const struct plot_series *s, size_t i)
{
    return isfinite(s->xy[2 * i]) && isfinite(s->xy[2 * i + 1]);
}

/* The least and largest value of an axis (0: x, 1: y); 0 if there is none. */
static int extent(const struct plot *p, int axis, double *least, double *most)
{
    int any = 0;
    for (size_t s = 0; s < p->count; s++) {
        for (size_t i = 0; i < p->series[s].points; i++) {
            double v = p->series[s].xy[2 * i + (size_t)axis];
            if (!is_point(&p->series[s], i))
                continue;
            *least = any && *least < v ? *least : v;
            *most = any && *most > v ? *most : v;
            any = 1;
        }
    }
    return any;
}

static void set_bounds(const struct plot *p, int axis, struct axis *out)
{
    const struct plot_axis *given = axis ? &p->y : &p->x;
    double least = 0, most = 1;
    *out = (struct axis){.label = given->label, .unit = given->unit};
    if (given->names) {
        out->least = -0.5;
        out->most = (double)(given->name_count ? given->name_count : 1) - 0.5;
        return;
    }
    extent(p, axis, &least, &most);
    out->logarithmic = least > 0 && (given->scale == PLOT_LOG ||
                                     (given->scale == PLOT_AUTO && most >= 20 * least));
    if (out->logarithmic) {
        double margin = most > least ? pow(most / least, 0.05) : 2;
        out->least = least / margin;
        out->most = most * margin;
        return;
    }
    if (axis == 1 && least > 0)
        least = 0;
    if (most <= least) { /* one value */
        double around = least != 0 ? fabs(least) / 2 : 1;
        least -= around;
        most += around;
    }
    double margin = axis == 1 ? axes_step(most - least) : (most - least) * 0.05;
    out->least = axis == 1 ? floor(least / margin + 1e-9) * margin : least - margin;
    out->most = axis == 1 ? ceil(most / margin - 1e-9) * margin : most + margin;
}

/* ---- ticks ---- */

/* The values of x, if there are few and they are not too close to each other. */
static int own_ticks(const struct plot *p, const struct axes *frame, struct axes_ticks *t)
{
    t->count = 0;
    for (size_t s = 0; s < p->count; s++) {
        for (size_t i = 0; i < p->series[s].points; i++) {
            double v = p->series[s].xy[2 * i], near = INFINITY;
            if (!is_point(&p->series[s], i))
                continue;
            for (size_t k = 0; k < t->count && near > 0; k++)
                near = fmin(near, fabs(axes_x(frame, v) - axes_x(frame, t->at[k])));
            if (near > 0 && (near < TICK_ROOM || t->count == AXES_TICKS_MAX))
                return 0;
            if (near > 0)
                t->at[t->count++] = v;
        }
    }
    return t->count > 0;
}

/* Must names of x alternate between two rows? */
static int has_two_rows(const struct plot_axis *x)
{
    size_t longest = 0;
    for (size_t i = 0; x->names && i < x->name_count; i++)
        longest = strlen(x->names[i]) > longest ? strlen(x->names[i]) : longest;
    return LETTER * (double)longest * (double)x->name_count > FRAME_WIDTH;
}

/* Names that are too long even for that are truncated. */
static void draw_names(struct svg *s, const struct plot_axis *x, const struct axes *frame)
{
    int two_rows = has_two_rows(x);
    size_t room = (size_t)(2 * FRAME_WIDTH / LETTER / (double)(x->name_count + 1));
    for (size_t i = 0; i < x->name_count; i++) {
        double at = axes_x(frame, (double)i), below = frame->top + frame->height + 1.4 * AXES_TEXT;
        int cut = two_rows && strlen(x->names[i]) > room;
        axes_draw_grid_x(s, frame, (double)i);
        svg_textf(s, at, below + (two_rows && i % 2 ? LINE : 0), AXES_TEXT, SVG_MIDDLE, AXES_INK,
                  "%.*s%s", cut ? (int)(room > 2 ? room - 2 : 0) : (int)strlen(x->names[i]),
                  x->names[i], cut ? ".." : "");
    }
}

static void draw_axes(struct svg *s, const struct plot *p, const struct axes *frame)
{
    struct axes_ticks t;
    if (p->x.names) {
        draw_names(s, &p->x, frame);
    } else {
        if (!own_ticks(p, frame, &t))
            axes_round_ticks(&frame->x, &t);
        axes_draw_ticks_x(s, frame, &t);
    }
    axes_round_ticks(&frame->y, &t);
    axes_draw_ticks_y(s, frame, &t);
    axes_draw_frame(s, frame, (has_two_rows(&p->x) ? 4.6 : 3.4) * AXES_TEXT);
}

/* ---- series ---- */

/* Makes all coinciding lines visible: the first is the widest, and those on top of it have gaps. */
static double line_width(size_t series)
{
    return series == 0 ? 3 : 2;
}

static void draw_series(struct svg *s, const struct plot *p, const struct axes *frame, size_t n)
{
    const struct plot_series *series = &p->series[n];
    const char *colour = svg_series(n);
    for (size_t i = 0; i < series->points; i++) {
        if (!is_point(series, i))
            continue;
        double x = axes_x(frame, series->xy[2 * i]), y = axes_y(frame, series->xy[2 * i + 1]);
        if (series->marks != PLOT_DOTS && i > 0 && is_point(series, i - 1))
            svg_line_dashes(s, axes_x(frame, series->xy[2 * i - 2]),
                            axes_y(frame, series->xy[2 * i - 1]), x, y, colour, line_width(n),
                            svg_dashes(n));
        if (series->marks != PLOT_LINE)
            svg_mark(s, x, y, 3.5, n, colour);
    }
}

static double legend_width(const struct plot *p)
{
    size_t longest = 0;
    for (size_t i = 0; i < p->count; i++) {
        size_t length = p->series[i].name ? strlen(p->series[i].name) : 0;
        longest = length > longest ? length : longest;
    }
    return longest ? 52 + LETTER * (double)longest : 0;
}

static void draw_legend(struct svg *s, const struct plot *p, const struct axes *frame)
{
    double x = frame->left + frame->width + 16, y = frame->top + AXES_TEXT;
    size_t shown = 0, named = 0;
    for (size_t i = 0; i < p->count; i++) {
        const struct plot_series *series = &p->series[i];
        if (!series->name)
            continue;
        named++;
        if (shown == LEGEND_MAX)
            continue;
        if (series->marks != PLOT_DOTS)
            svg_line_dashes(s, x, y - AXES_TEXT / 3, x + 22, y - AXES_TEXT / 3, svg_series(i),
                            line_width(i), svg_dashes(i));
        if (series->marks != PLOT_LINE)
            svg_mark(s, x + 11, y - AXES_TEXT / 3, 3.5, i, svg_series(i));
        svg_text(s, x + 30, y, AXES_TEXT, SVG_START, AXES_INK, series->name);
        y += LINE;
        shown++;
    }
    if (named > shown)
        svg_textf(s, x + 30, y, AXES_TEXT, SVG_START, AXES_INK, "and %zu more", named - shown);
}

void draw_plot(const struct plot *p, struct buf *out)
{
    struct axes frame = {.left = FRAME_LEFT,
                         .top = FRAME_TOP,
                         .width = FRAME_WIDTH,
                         .height = FRAME_HEIGHT};
    struct svg s;
    double right = legend_width(p);
    set_bounds(p, 0, &frame.x);
    set_bounds(p, 1, &frame.y);
    svg_begin(&s, out, FRAME_LEFT + FRAME_WIDTH + (right > 0 ? right : 24),
              FRAME_TOP + FRAME_HEIGHT + BELOW, p->title, p->description);
    svg_text(&s, FRAME_LEFT, 24, AXES_TEXT + 4, SVG_START, AXES_INK, p->title);
    draw_axes(&s, p, &frame);
    for (size_t i = 0; i < p->count; i++)
        draw_series(&s, p, &frame, i);
    draw_legend(&s, p, &frame);
    svg_end(&s);
}
