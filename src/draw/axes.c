/*
 * axes.c - draws axes. Ticks are round numbers unless the caller gives others: 1, 2 or 5 times a
 * power of ten.
 */
#include "draw/axes.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"

/* ---- positions of values ---- */

/* 0 to 1 along the axis. */
static double along(const struct axis *a, double value)
{
    if (a->logarithmic)
        return log(value / a->least) / log(a->most / a->least);
    return (value - a->least) / (a->most - a->least);
}

double axes_x(const struct axes *a, double value)
{
    return a->left + a->width * along(&a->x, value);
}

double axes_y(const struct axes *a, double value)
{
    return a->top + a->height * (1 - along(&a->y, value));
}

/* ---- values as text ---- */

/* "KiB" if that gives a whole number. */
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

void axes_value(double value, const char *unit, struct buf *out)
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

/* ---- ticks ---- */

double axes_step(double span)
{
    double rough = span / 6, power = pow(10, floor(log10(rough)));
    return (rough <= power ? 1 : rough <= 2 * power ? 2 : rough <= 5 * power ? 5 : 10) * power;
}

static void add_tick(struct axes_ticks *t, double value)
{
    if (t->count < AXES_TICKS_MAX)
        t->at[t->count++] = value;
}

void axes_round_ticks(const struct axis *a, struct axes_ticks *t)
{
    t->count = 0;
    if (!a->logarithmic) {
        double step = axes_step(a->most - a->least), first = ceil(a->least / step - 1e-9);
        for (int i = 0; (first + i) * step <= a->most + 1e-9 * step && i < AXES_TICKS_MAX; i++)
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

/* ---- drawing ---- */

void axes_draw_grid_x(struct svg *s, const struct axes *a, double value)
{
    double x = axes_x(a, value);
    svg_line(s, x, a->top, x, a->top + a->height, AXES_GRID, 1, 0);
}

void axes_draw_ticks_x(struct svg *s, const struct axes *a, const struct axes_ticks *t)
{
    for (size_t i = 0; i < t->count; i++) {
        struct buf text;
        buf_init(&text);
        axes_value(t->at[i], a->x.unit, &text);
        axes_draw_grid_x(s, a, t->at[i]);
        svg_text(s, axes_x(a, t->at[i]), a->top + a->height + 1.4 * AXES_TEXT, AXES_TEXT,
                 SVG_MIDDLE, AXES_INK, buf_str(&text));
        buf_fini(&text);
    }
}

void axes_draw_ticks_y(struct svg *s, const struct axes *a, const struct axes_ticks *t)
{
    for (size_t i = 0; i < t->count; i++) {
        double y = axes_y(a, t->at[i]);
        struct buf text;
        buf_init(&text);
        axes_value(t->at[i], a->y.unit, &text);
        svg_line(s, a->left, y, a->left + a->width, y, AXES_GRID, 1, 0);
        svg_text(s, a->left - 6, y + AXES_TEXT / 3, AXES_TEXT, SVG_END, AXES_INK, buf_str(&text));
        buf_fini(&text);
    }
}

void axes_draw_frame(struct svg *s, const struct axes *a, double below)
{
    svg_box(s, a->left, a->top, a->width, a->height, 0, "none", AXES_INK);
    svg_text(s, a->left + a->width / 2, a->top + a->height + below, AXES_TEXT + 2, SVG_MIDDLE,
             AXES_INK, a->x.label);
    svg_text(s, a->left, a->top - AXES_TEXT, AXES_TEXT + 2, SVG_START, AXES_INK, a->y.label);
}

void axes_draw(struct svg *s, const struct axes *a)
{
    struct axes_ticks t;
    axes_round_ticks(&a->x, &t);
    axes_draw_ticks_x(s, a, &t);
    axes_round_ticks(&a->y, &t);
    axes_draw_ticks_y(s, a, &t);
    axes_draw_frame(s, a, 3 * AXES_TEXT);
}

void axes_draw_line(struct svg *s, const struct axes *a, const double *xy, size_t points,
                    const char *colour)
{
    double *pixels = mem_alloc(2 * points * sizeof *pixels);
    for (size_t i = 0; i < points; i++) {
        pixels[2 * i] = axes_x(a, xy[2 * i]);
        pixels[2 * i + 1] = axes_y(a, xy[2 * i + 1]);
    }
    svg_polyline(s, pixels, points, colour, 2);
    mem_free(pixels);
}
