/*
 * pictures_links.c - draws the load of links (see pictures_links.h).
 */
#include "report/pictures_links.h"

#include <math.h>

#include "analysis/links.h"
#include "base/mem.h"
#include "draw/axes.h"
#include "draw/plot.h"

#define WIDTH 900.0
#define HEIGHT 620.0
#define LEFT 30.0
#define TOP 70.0
#define BOTTOM 60.0
#define INK "#333333"
#define SOFT "#777777"
#define IDLE "#dddddd"
#define DRAWN 6000 /* links: a picture must stay small */
#define PLOTTED 6

/* ---- the topology ---- */

/* Where vertices are drawn: the square in which the topology has them, stretched to the frame. */
struct frame {
    double x, y, width, height; /* of what is there */
};

static struct frame frame_of(const struct analysis_links *l)
{
    double low[2] = {INFINITY, INFINITY}, high[2] = {-INFINITY, -INFINITY};
    for (size_t i = 0; i < l->vertex_count; i++) {
        low[0] = fmin(low[0], l->vertex[i].x), high[0] = fmax(high[0], l->vertex[i].x);
        low[1] = fmin(low[1], l->vertex[i].y), high[1] = fmax(high[1], l->vertex[i].y);
    }
    return (struct frame){low[0], low[1], high[0] - low[0], high[1] - low[1]};
}

static void place(const struct frame *f, const struct analysis_vertex *v, double *x, double *y)
{
    *x = LEFT + (WIDTH - 2 * LEFT) * (f->width > 0 ? (v->x - f->x) / f->width : 0.5);
    *y = TOP + (HEIGHT - TOP - BOTTOM) * (f->height > 0 ? (v->y - f->y) / f->height : 0.5);
}

/* Shares of what links can carry, or bytes if one of them can carry any amount. */
static int has_rates(const struct analysis_links *l)
{
    for (size_t i = 0; i < l->used; i++)
        if (!isfinite(l->link[i].rate) || !(l->link[i].rate > 0))
            return 0;
    return 1;
}

static double value_of(const struct analysis *a, const struct analysis_link *link, int is_share)
{
    return is_share ? analysis_link_busy(a, link) : link->bytes;
}

/* Those that carried least first, so that the others are on top. */
static void draw_lines(struct svg *s, const struct analysis *a, const struct frame *f, int is_share,
                       double most)
{
    const struct analysis_links *l = &a->links;
    for (size_t i = l->count < DRAWN ? l->count : DRAWN; i-- > 0;) {
        const struct analysis_link *link = &l->link[i];
        double x[2], y[2], value = value_of(a, link, is_share);
        char colour[SVG_COLOUR_MAX];
        place(f, &l->vertex[link->from], &x[0], &y[0]);
        place(f, &l->vertex[link->to], &x[1], &y[1]);
        svg_scale(most > 0 ? value / most : 0, colour);
        svg_line(s, x[0], y[0], x[1], y[1], value > 0 ? colour : IDLE, value > 0 ? 3 : 1, 0);
    }
}

static void draw_vertices(struct svg *s, const struct analysis_links *l, const struct frame *f)
{
    double size = l->vertex_count > 300 ? 2 : 4;
    for (size_t i = 0; i < l->vertex_count && i < DRAWN; i++) {
        double x, y;
        place(f, &l->vertex[i], &x, &y);
        if (l->vertex[i].number < l->nodes)
            svg_circle(s, x, y, size, SOFT, "none");
        else
            svg_box(s, x - size, y - size, 2 * size, 2 * size, 0, INK, "none");
    }
}

static void draw_scale(struct svg *s, int is_share, double most)
{
    struct buf text;
    char colour[SVG_COLOUR_MAX];
    for (unsigned i = 0; i < 64; i++) {
        svg_scale(i / 63.0, colour);
        svg_box(s, LEFT + i * 3, HEIGHT - 28, 3.2, 12, 0, colour, "none");
    }
    buf_init(&text);
    buf_adds(&text, "0 to ");
    if (is_share)
        buf_addf(&text, "%.1f%% of what a link can carry", 100 * most);
    else
        axes_value(most, "B", &text);
    svg_text(s, LEFT + 202, HEIGHT - 17, 12, SVG_START, INK, buf_str(&text));
    buf_fini(&text);
}

void pictures_links(const struct analysis *a, struct buf *out)
{
    static const char about[] = "Links of the network by what they carried in the whole run";
    const struct analysis_links *l = &a->links;
    int is_share = has_rates(l);
    double most = 0;
    struct svg s;
    if (!l->kind)
        return;
    for (size_t i = 0; i < l->used; i++)
        most = fmax(most, value_of(a, &l->link[i], is_share));
    struct frame f = frame_of(l);
    svg_begin(&s, out, WIDTH, HEIGHT, "Load of links", about);
    svg_text(&s, 16, 24, 16, SVG_START, INK, "Load of links");
    svg_text(&s, 16, 42, 12, SVG_START, SOFT, about);
    draw_lines(&s, a, &f, is_share, most);
    draw_vertices(&s, l, &f);
    if (most > 0)
        draw_scale(&s, is_share, most);
    svg_end(&s);
}

/* ---- over time ---- */

/* Each bin as a step: its two ends. */
static void fill_steps(const struct analysis *a, const struct analysis_link *link, int is_share,
                       double *xy)
{
    const struct analysis_links *l = &a->links;
    for (size_t i = 0; i < l->bins; i++) {
        double begin = l->begin - a->begin + (double)i * l->interval;
        xy[4 * i] = fmax(0, begin);
        xy[4 * i + 2] = fmax(0, begin + l->interval);
        xy[4 * i + 1] = xy[4 * i + 3] = is_share ? 100 * analysis_link_load(l, link, i)
                                                 : link->bins[i];
    }
}

void pictures_links_time(const struct analysis *a, struct buf *out)
{
    const struct analysis_links *l = &a->links;
    struct plot_series series[PLOTTED];
    size_t count = l->used < PLOTTED ? l->used : PLOTTED;
    int is_share = has_rates(l);
    if (!l->kind || count == 0)
        return;
    double *xy = mem_alloc(count * 4 * l->bins * sizeof *xy);
    for (size_t i = 0; i < count; i++) {
        fill_steps(a, &l->link[i], is_share, xy + i * 4 * l->bins);
        series[i] = (struct plot_series){l->link[i].name, xy + i * 4 * l->bins, 2 * l->bins,
                                         PLOT_LINE};
    }
    const struct plot plot = {
        .title = "Busiest links over time",
        .description = "Load of the links that carried most, in each interval of time",
        .x = {.label = "time", .unit = "s", .scale = PLOT_LINEAR},
        .y = {.label = is_share ? "load" : "bytes",
              .unit = is_share ? "%" : "B",
              .scale = PLOT_LINEAR},
        .series = series,
        .count = count,
    };
    draw_plot(&plot, out);
    mem_free(xy);
}
