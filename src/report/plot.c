/*
 * Diagrams. The bounds of an axis come from the values; its ticks are the values themselves where these
 * are few, otherwise round numbers: 1, 2 or 5 times a power of ten.
 *
 *     title
 *     label of y
 *     +-----------------+  -o- series
 *     |      frame      |  -o- series
 *     +-----------------+
 *       label of x
 */
#include "report/plot.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "report/svg.h"

#define FRAME_LEFT 84.0
#define FRAME_TOP 64.0
#define FRAME_WIDTH 520.0
#define FRAME_HEIGHT 320.0
#define BELOW 64.0
#define TEXT 12.0
#define LETTER 7.4 /* mean width of a character of that size */
#define LINE 18.0  /* of the legend */
#define LEGEND_MAX 17
#define TICKS_MAX 12
#define TICK_ROOM 44.0
#define GRID "#dddddd"
#define INK "#333333"

/* ---- values ---- */

/* "KiB" where that comes out whole. */
static int binary_size(double value, struct buf *out)
{
    static const char *const prefixes[] = {"", "Ki", "Mi", "Gi", "Ti", "Pi"};
    size_t i = 0;
    if (value != floor(value))
        return 0;
    for (; i < 5 && value >= 1024 && fmod(value, 1024) == 0; i++)
        value /= 1024;
    if (i == 0)
        return 0;
    buf_addf(out, "%.6g %sB", value, prefixes[i]);
    return 1;
}

void report_plot_value(double value, const char *unit, struct buf *out)
{
    static const char *const prefixes[] = {"p", "n", "u", "m", "", "k", "M", "G", "T", "P"};
    const int one = 4, last = 9;
    if (!unit || !*unit) {
        buf_addf(out, "%.6g", value);
        return;
    }
    if (strcmp(unit, "B") == 0 && binary_size(value, out))
        return;
    int i = value == 0 ? 0 : (int)floor(log10(fabs(value) * (1 + 1e-9)) / 3);
    i = i + one < 0 ? -one : i + one > last ? last - one : i;
    buf_addf(out, "%.6g %s%s", value / pow(1000, i), prefixes[i + one], unit);
}

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

/* The distance of ticks: 1, 2 or 5 times a power of ten, for about six of them. */
static double tick_step(double span)
{
    double rough = span / 6, power = pow(10, floor(log10(rough)));
    return (rough <= power ? 1 : rough <= 2 * power ? 2 : rough <= 5 * power ? 5 : 10) * power;
}

static void set_bounds(const struct plot *p, int axis, struct svg_axis *out)
{
    const struct plot_axis *given = axis ? &p->y : &p->x;
    double least = 0, most = 1;
    *out = (struct svg_axis){.label = given->label};
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
    double margin = axis == 1 ? tick_step(most - least) : (most - least) * 0.05;
    out->least = axis == 1 ? floor(least / margin + 1e-9) * margin : least - margin;
    out->most = axis == 1 ? ceil(most / margin - 1e-9) * margin : most + margin;
}

/* ---- ticks ---- */

struct ticks {
    double at[TICKS_MAX];
    size_t count;
};

static void add_tick(struct ticks *t, double value)
{
    if (t->count < TICKS_MAX)
        t->at[t->count++] = value;
}

/* The values of x if they are few and not too close to each other. */
static int own_ticks(const struct plot *p, const struct svg_plot *frame, struct ticks *t)
{
    t->count = 0;
    for (size_t s = 0; s < p->count; s++) {
        for (size_t i = 0; i < p->series[s].points; i++) {
            double v = p->series[s].xy[2 * i], near = INFINITY;
            if (!is_point(&p->series[s], i))
                continue;
            for (size_t k = 0; k < t->count && near > 0; k++)
                near = fmin(near, fabs(svg_plot_x(frame, v) - svg_plot_x(frame, t->at[k])));
            if (near > 0 && (near < TICK_ROOM || t->count == TICKS_MAX))
                return 0;
            if (near > 0)
                add_tick(t, v);
        }
    }
    return t->count > 0;
}

static void round_ticks(const struct svg_axis *a, struct ticks *t)
{
    t->count = 0;
    if (!a->logarithmic) {
        double step = tick_step(a->most - a->least), first = ceil(a->least / step - 1e-9);
        for (int i = 0; (first + i) * step <= a->most + 1e-9 * step && i < TICKS_MAX; i++)
            add_tick(t, (first + i) * step);
        return;
    }
    double decades = log10(a->most / a->least);
    int first = (int)floor(log10(a->least)), last = (int)ceil(log10(a->most));
    int every = (int)(decades / 8) + 1;
    for (int i = first; i <= last; i += every) {
        for (int digit = 1; digit <= 5; digit += digit == 1 ? 1 : 3) { /* 1, 2, 5 */
            double v = digit * pow(10, i);
            if (v >= a->least && v <= a->most && (digit == 1 || decades < 3))
                add_tick(t, v);
        }
    }
}

static void draw_tick(struct svg *s, const struct svg_plot *frame, int axis, double value,
                      const char *text)
{
    double x = svg_plot_x(frame, value), y = svg_plot_y(frame, value);
    if (axis) {
        svg_line(s, frame->left, y, frame->left + frame->width, y, GRID, 1, 0);
        svg_text(s, frame->left - 6, y + TEXT / 3, TEXT, SVG_END, INK, text);
    } else {
        svg_line(s, x, frame->top, x, frame->top + frame->height, GRID, 1, 0);
        svg_text(s, x, frame->top + frame->height + 1.4 * TEXT, TEXT, SVG_MIDDLE, INK, text);
    }
}

/* Do names of x need two rows, in turn? */
static int has_two_rows(const struct plot_axis *x)
{
    size_t longest = 0;
    for (size_t i = 0; x->names && i < x->name_count; i++)
        longest = strlen(x->names[i]) > longest ? strlen(x->names[i]) : longest;
    return LETTER * (double)longest * (double)x->name_count > FRAME_WIDTH;
}

/* Names that are too long even for that are cut. */
static void draw_names(struct svg *s, const struct plot_axis *x, const struct svg_plot *frame)
{
    int two_rows = has_two_rows(x);
    size_t room = (size_t)(2 * FRAME_WIDTH / LETTER / (double)(x->name_count + 1));
    for (size_t i = 0; i < x->name_count; i++) {
        double at = svg_plot_x(frame, (double)i), below = frame->top + frame->height + 1.4 * TEXT;
        int cut = two_rows && strlen(x->names[i]) > room;
        svg_line(s, at, frame->top, at, frame->top + frame->height, GRID, 1, 0);
        svg_textf(s, at, below + (two_rows && i % 2 ? LINE : 0), TEXT, SVG_MIDDLE, INK, "%.*s%s",
                  cut ? (int)(room > 2 ? room - 2 : 0) : (int)strlen(x->names[i]), x->names[i],
                  cut ? ".." : "");
    }
}

static void draw_axis(struct svg *s, const struct plot *p, const struct svg_plot *frame, int axis)
{
    const struct plot_axis *given = axis ? &p->y : &p->x;
    struct ticks t;
    if (given->names) {
        draw_names(s, given, frame);
        return;
    }
    if (axis == 1 || !own_ticks(p, frame, &t))
        round_ticks(axis ? &frame->y : &frame->x, &t);
    for (size_t i = 0; i < t.count; i++) {
        struct buf text;
        buf_init(&text);
        report_plot_value(t.at[i], given->unit, &text);
        draw_tick(s, frame, axis, t.at[i], buf_str(&text));
        buf_fini(&text);
    }
}

/* ---- series ---- */

/* Lines that coincide are all seen: the first is the widest, and those on it have gaps. */
static double line_width(size_t series)
{
    return series == 0 ? 3 : 2;
}

static void draw_series(struct svg *s, const struct plot *p, const struct svg_plot *frame, size_t n)
{
    const struct plot_series *series = &p->series[n];
    const char *colour = svg_series(n);
    for (size_t i = 0; i < series->points; i++) {
        if (!is_point(series, i))
            continue;
        double x = svg_plot_x(frame, series->xy[2 * i]), y = svg_plot_y(frame, series->xy[2 * i + 1]);
        if (series->marks != PLOT_DOTS && i > 0 && is_point(series, i - 1))
            svg_line_dashes(s, svg_plot_x(frame, series->xy[2 * i - 2]),
                            svg_plot_y(frame, series->xy[2 * i - 1]), x, y, colour, line_width(n),
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

static void draw_legend(struct svg *s, const struct plot *p, const struct svg_plot *frame)
{
    double x = frame->left + frame->width + 16, y = frame->top + TEXT;
    size_t shown = 0, named = 0;
    for (size_t i = 0; i < p->count; i++) {
        const struct plot_series *series = &p->series[i];
        if (!series->name)
            continue;
        named++;
        if (shown == LEGEND_MAX)
            continue;
        if (series->marks != PLOT_DOTS)
            svg_line_dashes(s, x, y - TEXT / 3, x + 22, y - TEXT / 3, svg_series(i), line_width(i),
                            svg_dashes(i));
        if (series->marks != PLOT_LINE)
            svg_mark(s, x + 11, y - TEXT / 3, 3.5, i, svg_series(i));
        svg_text(s, x + 30, y, TEXT, SVG_START, INK, series->name);
        y += LINE;
        shown++;
    }
    if (named > shown)
        svg_textf(s, x + 30, y, TEXT, SVG_START, INK, "and %zu more", named - shown);
}

void report_plot(const struct plot *p, struct buf *out)
{
    struct svg_plot frame = {.left = FRAME_LEFT, .top = FRAME_TOP, .width = FRAME_WIDTH,
                             .height = FRAME_HEIGHT};
    struct svg s;
    double right = legend_width(p);
    set_bounds(p, 0, &frame.x);
    set_bounds(p, 1, &frame.y);
    svg_begin(&s, out, FRAME_LEFT + FRAME_WIDTH + (right > 0 ? right : 24),
              FRAME_TOP + FRAME_HEIGHT + BELOW, p->title, p->description);
    svg_text(&s, FRAME_LEFT, 24, TEXT + 4, SVG_START, INK, p->title);
    draw_axis(&s, p, &frame, 0);
    draw_axis(&s, p, &frame, 1);
    svg_box(&s, frame.left, frame.top, frame.width, frame.height, 0, "none", INK);
    svg_text(&s, FRAME_LEFT + FRAME_WIDTH / 2,
             FRAME_TOP + FRAME_HEIGHT + (has_two_rows(&p->x) ? 4.6 : 3.4) * TEXT, TEXT + 2, SVG_MIDDLE, INK,
             p->x.label);
    svg_text(&s, FRAME_LEFT, FRAME_TOP - TEXT, TEXT + 2, SVG_START, INK, p->y.label);
    for (size_t i = 0; i < p->count; i++)
        draw_series(&s, p, &frame, i);
    draw_legend(&s, p, &frame);
    svg_end(&s);
}
