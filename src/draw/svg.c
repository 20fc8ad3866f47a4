/*
 * svg.c - shapes as SVG elements, and plots made of them. Numbers are written with two decimals: a
 * hundredth of a pixel is invisible.
 */
#include "draw/svg.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/xml.h"

/* Colours on a light background, and their equivalents on a dark one. */
static const struct {
    const char *light, *dark;
} schemes[] = {
    {"#ffffff", "#16191f"}, {"#222222", "#e8e8e8"}, {"#333333", "#dcdcdc"}, {"#777777", "#a9afb8"},
    {"#dddddd", "#3b414b"}, {"#f4f4f4", "#39404c"}, {"#33415c", "#9fb3d9"}, {"#cfd8ea", "#26324a"},
    {"#cc0000", "#ff7b72"}, {"#000000", "#f0f0f0"}, {"#0072b2", "#4db2ee"}, {"#009e73", "#2ecc9a"},
    {"#d55e00", "#ff8a3d"},
};

static void add_dark(struct buf *out)
{
    buf_adds(out, "<style>@media (prefers-color-scheme: dark) {\n");
    for (size_t i = 0; i < sizeof schemes / sizeof schemes[0]; i++)
        buf_addf(out, "[fill=\"%s\"]{fill:%s}[stroke=\"%s\"]{stroke:%s}\n", schemes[i].light,
                 schemes[i].dark, schemes[i].light, schemes[i].dark);
    buf_adds(out, "}</style>\n");
}

void svg_begin(struct svg *s, struct buf *out, double width, double height, const char *title,
               const char *description)
{
    s->out = out;
    buf_addf(out,
             "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" "
             "viewBox=\"0 0 %.0f %.0f\" font-family=\"sans-serif\">\n<title>",
             width, height, width, height);
    xml_add_text(out, title);
    buf_adds(out, "</title>\n<desc>");
    xml_add_text(out, description);
    buf_adds(out, "</desc>\n");
    add_dark(out);
    svg_box(s, 0, 0, width, height, 0, "#ffffff", "none");
}

void svg_end(struct svg *s)
{
    buf_adds(s->out, "</svg>\n");
}

static void add_stroke(struct svg *s, const char *colour, double width, int dashed)
{
    buf_addf(s->out, " stroke=\"%s\" stroke-width=\"%.2f\"%s/>\n", colour, width,
             dashed ? " stroke-dasharray=\"4 3\"" : "");
}

void svg_line(struct svg *s, double x1, double y1, double x2, double y2, const char *colour,
              double width, int dashed)
{
    buf_addf(s->out, "<line x1=\"%.2f\" y1=\"%.2f\" x2=\"%.2f\" y2=\"%.2f\"", x1, y1, x2, y2);
    add_stroke(s, colour, width, dashed);
}

void svg_curve(struct svg *s, double x1, double y1, double x2, double y2, double bend,
               const char *colour, double width, int dashed)
{
    double x = (x1 + x2) / 2 + (y2 - y1) * bend, y = (y1 + y2) / 2 - (x2 - x1) * bend;
    buf_addf(s->out, "<path fill=\"none\" d=\"M%.2f %.2fQ%.2f %.2f %.2f %.2f\"", x1, y1, x, y, x2,
             y2);
    add_stroke(s, colour, width, dashed);
}

void svg_box(struct svg *s, double x, double y, double width, double height, double radius,
             const char *fill, const char *stroke)
{
    buf_addf(s->out,
             "<rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\" rx=\"%.2f\" "
             "fill=\"%s\" stroke=\"%s\"/>\n",
             x, y, width, height, radius, fill, stroke);
}

void svg_circle(struct svg *s, double x, double y, double radius, const char *fill,
                const char *stroke)
{
    buf_addf(s->out, "<circle cx=\"%.2f\" cy=\"%.2f\" r=\"%.2f\" fill=\"%s\" stroke=\"%s\"/>\n", x,
             y, radius, fill, stroke);
}

void svg_polyline(struct svg *s, const double *xy, size_t points, const char *colour, double width)
{
    buf_adds(s->out, "<polyline fill=\"none\" points=\"");
    for (size_t i = 0; i < points; i++)
        buf_addf(s->out, "%s%.2f,%.2f", i ? " " : "", xy[2 * i], xy[2 * i + 1]);
    buf_adds(s->out, "\"");
    add_stroke(s, colour, width, 0);
}

void svg_text(struct svg *s, double x, double y, double size, enum svg_anchor anchor,
              const char *colour, const char *text)
{
    static const char *const anchors[] = {"start", "middle", "end"};
    buf_addf(s->out,
             "<text x=\"%.2f\" y=\"%.2f\" font-size=\"%.1f\" text-anchor=\"%s\" fill=\"%s\">", x, y,
             size, anchors[anchor], colour);
    xml_add_text(s->out, text);
    buf_adds(s->out, "</text>\n");
}

void svg_textf(struct svg *s, double x, double y, double size, enum svg_anchor anchor,
               const char *colour, const char *fmt, ...)
{
    char text[512];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    svg_text(s, x, y, size, anchor, colour, text);
}

void svg_label(struct svg *s, double x, double y, double size, const char *colour, const char *fmt,
               ...)
{
    char text[128];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    buf_addf(s->out,
             "<text x=\"%.2f\" y=\"%.2f\" font-size=\"%.1f\" text-anchor=\"middle\" fill=\"%s\" "
             "stroke=\"#ffffff\" stroke-width=\"3\" paint-order=\"stroke\">",
             x, y, size, colour);
    xml_add_text(s->out, text);
    buf_adds(s->out, "</text>\n");
}

/* ---- series ---- */

const char *svg_dashes(size_t i)
{
    static const char *const dashes[] = {"", "9 7", "3 6", "14 4 3 4", "6 10", "2 3"};
    return dashes[i % (sizeof dashes / sizeof dashes[0])];
}

void svg_line_dashes(struct svg *s, double x1, double y1, double x2, double y2, const char *colour,
                     double width, const char *dashes)
{
    buf_addf(s->out,
             "<line x1=\"%.2f\" y1=\"%.2f\" x2=\"%.2f\" y2=\"%.2f\" stroke=\"%s\" "
             "stroke-width=\"%.2f\"",
             x1, y1, x2, y2, colour, width);
    if (*dashes)
        buf_addf(s->out, " stroke-dasharray=\"%s\"", dashes);
    buf_adds(s->out, "/>\n");
}

void svg_mark(struct svg *s, double x, double y, double radius, size_t i, const char *colour)
{
    const char *fill = i == 0 ? colour : "none";
    double r = radius * (1 + 0.35 * (double)(i % 4)); /* so that coinciding marks remain visible */
    switch (i % 4) {
    case 0:
        svg_circle(s, x, y, r, fill, colour);
        return;
    case 1:
        svg_box(s, x - r, y - r, 2 * r, 2 * r, 0, fill, colour);
        return;
    case 2: /* a triangle */
        buf_addf(s->out, "<path d=\"M%.2f %.2fl%.2f %.2fh%.2fz\" fill=\"%s\" stroke=\"%s\"/>\n", x,
                 y - r, r, 2 * r, -2 * r, fill, colour);
        return;
    default: /* a diamond */
        buf_addf(
            s->out,
            "<path d=\"M%.2f %.2fl%.2f %.2fl%.2f %.2fl%.2f %.2fz\" fill=\"%s\" stroke=\"%s\"/>\n",
            x, y - r, r, r, -r, r, -r, -r, fill, colour);
    }
}

/* ---- colours ---- */

void svg_scale(double value, char out[SVG_COLOUR_MAX])
{
    static const unsigned char stops[][3] = {{68, 1, 84},
                                             {59, 82, 139},
                                             {33, 145, 140},
                                             {94, 201, 98},
                                             {226, 200, 30}};
    const size_t last = sizeof stops / sizeof stops[0] - 1;
    double at = (value < 0 ? 0 : value > 1 ? 1 : value) * (double)last;
    size_t i = (size_t)at < last ? (size_t)at : last - 1;
    unsigned rgb[3];
    for (int c = 0; c < 3; c++)
        rgb[c] = (unsigned)lround(stops[i][c] + (at - (double)i) * (stops[i + 1][c] - stops[i][c]));
    snprintf(out, SVG_COLOUR_MAX, "#%02x%02x%02x", rgb[0] & 255, rgb[1] & 255, rgb[2] & 255);
}

/* Okabe and Ito's palette. */
const char *svg_series(size_t i)
{
    static const char *const colours[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                          "#e69f00", "#56b4e9", "#000000"};
    return colours[i % (sizeof colours / sizeof colours[0])];
}
