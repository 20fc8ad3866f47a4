/*
 * plot.c - the picture of a calibration: three plots, one below the other.
 *
 *     half round trip over size, logarithmic: medians with quartiles, and the model
 *     residuals of the model, in percent
 *     MPI_Alltoall over size, one colour per number of ranks, with the logarithmic fit (after
 * Riesen 2006, figure 7)
 */
#include <math.h>
#include <string.h>

#include "calibrate/report.h"
#include "draw/axes.h"

#define WIDTH 860
#define LEFT 80
#define FRAME 740
#define STEPS 400 /* of a curve */
#define MEASURED "#1f4e79"
#define MODEL "#c0392b"
#define GREY "#777777"

struct range {
    double least, most;
};

static void widen(struct range *r, double value)
{
    if (value > 0 && value < r->least)
        r->least = value;
    if (value > r->most)
        r->most = value;
}

static int is_point(const struct calibrate_record *r, const char *kind, enum calibrate_where where)
{
    return strcmp(r->kind, kind) == 0 && r->where == where && r->median > 0;
}

/* An axis for the given values: 0 bytes are drawn at 1/2. */
static struct axis log_axis(struct range r, const char *label)
{
    struct axis axis = {r.least / 1.5, r.most * 1.5, 1, label, NULL};
    if (!(axis.least > 0 && axis.least < axis.most && isfinite(axis.most)))
        axis.least = 1, axis.most = 10;
    return axis;
}

static double x_of(uint64_t bytes)
{
    return bytes ? (double)bytes : 0.5;
}

static void draw_point(struct svg *s, const struct axes *p, const struct calibrate_record *r,
                       const char *colour)
{
    double x = axes_x(p, x_of(r->bytes)), unit = 1e-3;
    double low = fmax(r->q1 * unit, p->y.least), high = fmin(r->q3 * unit, p->y.most);
    svg_line(s, x, axes_y(p, low), x, axes_y(p, high), colour, 2, 0);
    svg_circle(s, x, axes_y(p, r->median * unit), 2.5, r->beyond_cores ? "none" : colour, colour);
}

/* ---- messages ---- */

static void draw_model(struct svg *s, const struct axes *p, const struct calibrate_curve *c)
{
    double xy[2 * STEPS];
    double from = log(p->x.least), to = log(p->x.most);
    for (int i = 0; i < STEPS; i++) {
        double x = exp(from + (to - from) * i / (STEPS - 1));
        xy[2 * i] = x;
        xy[2 * i + 1] = calibrate_predict(c, x < 1 ? 0 : (uint64_t)x) * 1e-3;
    }
    axes_draw_line(s, p, xy, STEPS, MODEL);
}

static void legend(struct svg *s, double x, double y, const char *colour, int line,
                   const char *text)
{
    if (line)
        svg_line(s, x - 8, y - 4, x + 8, y - 4, colour, 2, 0);
    else
        svg_circle(s, x, y - 4, 2.5, colour, colour);
    svg_text(s, x + 14, y, 12, SVG_START, "#222222", text);
}

static void draw_curve(struct svg *s, double top, const struct calibrate_curve *c,
                       const struct calibrate_raw *raw, enum calibrate_where where)
{
    struct range x = {INFINITY, 0}, y = {INFINITY, 0};
    for (size_t i = 0; i < raw->count; i++)
        if (is_point(&raw->records[i], "pingpong", where)) {
            const struct calibrate_record *r = &raw->records[i];
            widen(&x, x_of(r->bytes));
            widen(&y, r->q1 * 1e-3);
            widen(&y, r->q3 * 1e-3);
            widen(&y, calibrate_predict(c, r->bytes) * 1e-3);
        }
    struct axes p = {LEFT,
                     top,
                     FRAME,
                     320,
                     log_axis(x, "bytes (an empty message is drawn at 0.5)"),
                     log_axis(y, "half round trip, us")};
    svg_textf(s, LEFT + FRAME, top - 12, 14, SVG_END, "#222222", "Messages %s",
              where == CALIBRATE_INTRA ? "within a node" : "between nodes");
    axes_draw(s, &p);
    draw_model(s, &p, c);
    for (size_t i = 0; i < raw->count; i++)
        if (is_point(&raw->records[i], "pingpong", where))
            draw_point(s, &p, &raw->records[i], MEASURED);
    legend(s, LEFT + 24, top + 24, MEASURED, 0, "measured: median and quartiles");
    legend(s, LEFT + 24, top + 42, MODEL, 1, "model loggops, fitted");
}

/* The legend of the colours, and the quality of the fit in words. */
static void explain_residuals(struct svg *s, double top, const struct calibrate_machine *m,
                              const struct calibrate_raw *raw, enum calibrate_where where)
{
    size_t good, all;
    calibrate_fit_count(m, raw, where, &good, &all);
    legend(s, LEFT + 110, top - 12, MEASURED, 0, "within 10% or the quartiles");
    legend(s, LEFT + 322, top - 12, MODEL, 0, "off");
    svg_textf(s, LEFT + FRAME, top - 12, 12, SVG_END,
              calibrate_fit_is_poor(good, all) ? MODEL : "#222222",
              calibrate_fit_is_poor(good, all) ? "a poor fit: good at only %zu of %zu sizes"
                                               : "a good fit at %zu of %zu sizes",
              good, all);
}

static void draw_residuals(struct svg *s, double top, const struct calibrate_machine *m,
                           const struct calibrate_raw *raw, enum calibrate_where where)
{
    const struct calibrate_curve *c = &m->curves[where];
    struct range x = {INFINITY, 0}, y = {0, 15};
    for (size_t i = 0; i < raw->count; i++)
        if (is_point(&raw->records[i], "pingpong", where)) {
            const struct calibrate_record *r = &raw->records[i];
            widen(&x, x_of(r->bytes));
            widen(&y, 100 * fabs(calibrate_predict(c, r->bytes) - r->median) / r->median);
        }
    struct axes p = {LEFT,
                     top,
                     FRAME,
                     130,
                     log_axis(x, "bytes"),
                     {-1.1 * y.most, 1.1 * y.most, 0, "residual, %", NULL}};
    axes_draw(s, &p);
    for (int side = -1; side <= 1; side++)
        svg_line(s, LEFT, axes_y(&p, side * 10), LEFT + FRAME, axes_y(&p, side * 10), GREY, 1,
                 side != 0);
    for (size_t i = 0; i < raw->count; i++) {
        const struct calibrate_record *r = &raw->records[i];
        if (!is_point(r, "pingpong", where))
            continue;
        double predicted = calibrate_predict(c, r->bytes);
        svg_circle(s, axes_x(&p, x_of(r->bytes)),
                   axes_y(&p, 100 * (predicted - r->median) / r->median), 2.5,
                   calibrate_is_good(r, predicted) ? MEASURED : MODEL, "none");
    }
    explain_residuals(s, top, m, raw, where);
}

/* ---- all-to-all ---- */

static const struct calibrate_collective *find(const struct calibrate_machine *m, const char *kind)
{
    for (size_t i = 0; i < m->collective_count; i++)
        if (strcmp(m->collectives[i].kind, kind) == 0)
            return &m->collectives[i];
    return NULL;
}

/* The fit for one number of ranks, where it is positive. */
static void draw_fit(struct svg *s, const struct axes *p, const struct calibrate_collective *c,
                     uint32_t ranks, const char *colour)
{
    double xy[2 * STEPS], from = log(p->x.least), to = log(p->x.most);
    size_t count = 0;
    for (int i = 0; i < STEPS; i++) {
        double x = exp(from + (to - from) * i / (STEPS - 1));
        double y = calibrate_collective_predict(c, ranks, (uint64_t)x) * 1e-3;
        if (y < p->y.least || y > p->y.most)
            continue;
        xy[2 * count] = x;
        xy[2 * count++ + 1] = y;
    }
    if (count > 1)
        axes_draw_line(s, p, xy, count, colour);
}

static void draw_alltoall(struct svg *s, double top, const struct calibrate_collective *c,
                          const struct calibrate_raw *raw)
{
    struct range x = {INFINITY, 0}, y = {INFINITY, 0};
    uint32_t before = 0;
    size_t series = 0;
    for (size_t i = 0; i < raw->count; i++)
        if (is_point(&raw->records[i], "alltoall", CALIBRATE_ANYWHERE)) {
            widen(&x, x_of(raw->records[i].bytes));
            widen(&y, raw->records[i].q1 * 1e-3);
            widen(&y, raw->records[i].q3 * 1e-3);
        }
    struct axes p = {LEFT,
                     top,
                     FRAME,
                     320,
                     log_axis(x, "bytes to each rank"),
                     log_axis(y, "time of MPI_Alltoall, us")};
    svg_text(s, LEFT + FRAME, top - 12, 14, SVG_END, "#222222",
             "MPI_Alltoall: measured, and the logarithmic model a + b log2 p + c n log2 p");
    axes_draw(s, &p);
    for (size_t i = 0; i < raw->count; i++) {
        const struct calibrate_record *r = &raw->records[i];
        if (!is_point(r, "alltoall", CALIBRATE_ANYWHERE))
            continue;
        if (r->ranks != before) { /* records are in the order of ranks */
            before = r->ranks;
            series++;
            draw_fit(s, &p, c, r->ranks, svg_series(series - 1));
            svg_circle(s, LEFT + 24, top + 2 + 18 * (double)series, 2.5, svg_series(series - 1),
                       "none");
            svg_textf(s, LEFT + 38, top + 6 + 18 * (double)series, 12, SVG_START, "#222222",
                      "%u ranks%s", r->ranks, r->beyond_cores ? ", beyond the cores" : "");
        }
        draw_point(s, &p, r, svg_series(series - 1));
    }
}

void calibrate_report_svg(const struct calibrate_machine *m, const struct calibrate_raw *raw,
                          struct buf *out)
{
    const struct calibrate_collective *alltoall = find(m, "alltoall");
    struct svg s;
    double top = 50, height = 20;
    for (int i = 0; i < 2; i++)
        height += m->curves[i].count ? 620 : 0;
    height += alltoall ? 430 : 0;
    svg_begin(&s, out, WIDTH, height, "Calibration",
              "Measured times of messages and collectives beside "
              "those of the fitted model");
    for (int i = 0; i < 2; i++)
        if (m->curves[i].count) {
            draw_curve(&s, top, &m->curves[i], raw, (enum calibrate_where)i);
            draw_residuals(&s, top + 400, m, raw, (enum calibrate_where)i);
            top += 620;
        }
    if (alltoall)
        draw_alltoall(&s, top, alltoall, raw);
    svg_end(&s);
}
