/*
 * pictures.c - draws the panels as SVG pictures with src/draw.
 */
#include "report/pictures.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "base/path.h"
#include "base/units.h"
#include "base/vtime.h"
#include "draw/axes.h"
#include "draw/plot.h"
#include "report/grid.h"
#include "report/panels.h"
#include "report/pictures_links.h"

#define WIDTH 900.0
#define INK "#333333"
#define SOFT "#777777"
#define GROUND "#f4f4f4"
#define BARS_MOST 20
#define POINTS_MOST 512
#define CELLS_MOST 96 /* of a picture, in each direction: a file of cells must stay small */

struct panel {
    const struct analysis *a;
    struct timeline *t;
    struct buf *out;
};

/* Colours of kinds, as in web/src/kinds.ts. */
static const char *const kind_colours[REPORT_KINDS] = {
    [REPORT_COMPUTE] = "#cfd8ea",   [REPORT_SEND] = "#0072b2",       [REPORT_RECEIVE] = "#56b4e9",
    [REPORT_WAIT] = "#e69f00",      [REPORT_COLLECTIVE] = "#009e73", [REPORT_BARRIER] = "#d55e00",
    [REPORT_ONE_SIDED] = "#cc79a7", [REPORT_FILE] = "#8c6d31",       [REPORT_OTHER] = "#777777",
};

/* ---- bars ---- */

struct bar {
    char name[120], text[UNITS_TEXT_MAX];
    double value;
    const char *colour;
};

static void set_bar(struct bar *b, const char *name, double value, const char *unit,
                    const char *colour)
{
    struct buf text;
    buf_init(&text);
    axes_value(value, unit, &text);
    snprintf(b->name, sizeof b->name, "%s", name);
    snprintf(b->text, sizeof b->text, "%s", buf_str(&text));
    b->value = value;
    b->colour = colour;
    buf_fini(&text);
}

static int most_first(const void *a, const void *b)
{
    const struct bar *x = a, *y = b;
    return x->value > y->value ? -1 : x->value < y->value ? 1 : strcmp(x->name, y->name);
}

/* Horizontal bars with names and values. */
static void draw_bars(struct buf *out, const char *title, const char *about, const struct bar *bars,
                      size_t count, double most)
{
    const double left = 330, right = 100, row = 26, top = 54;
    struct svg s;
    svg_begin(&s, out, WIDTH, top + row * (double)(count ? count : 1) + 16, title, about);
    svg_text(&s, 16, 24, 16, SVG_START, INK, title);
    svg_text(&s, 16, 42, 12, SVG_START, SOFT, about);
    if (count == 0)
        svg_text(&s, 16, top + 16, 13, SVG_START, INK, "nothing");
    for (size_t i = 0; i < count; i++) {
        double y = top + row * (double)i, room = WIDTH - left - right;
        double length = most > 0 ? room * bars[i].value / most : 0;
        svg_text(&s, left - 10, y + 16, 12, SVG_END, INK, bars[i].name);
        svg_box(&s, left, y + 4, room, row - 9, 2, GROUND, "none");
        svg_box(&s, left, y + 4, length, row - 9, 2, bars[i].colour, "none");
        svg_text(&s, left + room + 10, y + 16, 12, SVG_START, INK, bars[i].text);
    }
    svg_end(&s);
}

static double largest(const struct bar *bars, size_t count)
{
    double most = 0;
    for (size_t i = 0; i < count; i++)
        most = bars[i].value > most ? bars[i].value : most;
    return most;
}

/* ---- panels ---- */

static void draw_breakdown(struct panel *p)
{
    struct bar bars[REPORT_KINDS];
    size_t count = 0;
    for (unsigned k = 0; k < REPORT_KINDS; k++) {
        double sum = 0;
        for (uint64_t i = 0; i < p->a->ranks; i++)
            sum += p->t->kinds[i * REPORT_KINDS + k];
        if (sum > 0)
            set_bar(&bars[count++], report_kind_name(k), sum, "s", kind_colours[k]);
    }
    draw_bars(p->out, "Computing and communication", "Time of all ranks, by what they did", bars,
              count, largest(bars, count));
}

static void draw_efficiency(struct panel *p)
{
    const struct analysis_efficiency *e = &p->a->efficiency;
    const struct {
        const char *name;
        double value;
    } values[] = {
        {"parallel efficiency", e->parallel},
        {"load balance", e->load_balance},
        {"communication efficiency", e->communication},
        {"serialisation efficiency", e->serialisation},
        {"transfer efficiency", e->transfer},
    };
    struct bar bars[sizeof values / sizeof values[0]];
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        set_bar(&bars[i], values[i].name, values[i].value, "", "#009e73");
        snprintf(bars[i].text, sizeof bars[i].text, "%.1f%%", values[i].value * 100);
    }
    draw_bars(p->out, "Efficiencies", "Parallel = load balance x serialisation x transfer", bars,
              sizeof bars / sizeof bars[0], 1);
}

static void draw_functions(struct panel *p)
{
    const struct trace_schema *schema = p->t->trace->header.schema;
    struct bar *bars = mem_alloc((p->a->function_count + 1) * sizeof *bars);
    size_t count = p->a->function_count;
    for (size_t i = 0; i < count; i++) {
        const struct analysis_function *f = &p->a->function[i];
        int fn = trace_schema_find(schema, f->name);
        enum report_kind kind = fn < 0 ? REPORT_OTHER : report_kind_of(&schema->fns[fn]);
        set_bar(&bars[i], f->name, f->time, "s", kind_colours[kind]);
    }
    qsort(bars, count, sizeof *bars, most_first);
    count = count < BARS_MOST ? count : BARS_MOST;
    draw_bars(p->out, "Functions", "Time of all ranks in each MPI function", bars, count,
              largest(bars, count));
    mem_free(bars);
}

static void draw_waits(struct panel *p)
{
    struct bar bars[ANALYSIS_WAIT_KINDS];
    size_t count = 0;
    for (unsigned k = 0; k < ANALYSIS_WAIT_KINDS; k++)
        if (p->a->waits[k] > 0)
            set_bar(&bars[count++], analysis_wait_name(k), p->a->waits[k], "s", "#e69f00");
    qsort(bars, count, sizeof *bars, most_first);
    draw_bars(p->out, "Wait states", "Time that all ranks waited, by reason", bars, count,
              largest(bars, count));
}

static void draw_path(struct panel *p)
{
    struct bar *bars = mem_alloc((p->a->place_count + 1) * sizeof *bars);
    size_t count = 0;
    for (size_t i = 0; i < p->a->place_count; i++) {
        const struct analysis_place *place = &p->a->place[i];
        char name[120];
        if (!(place->path > 0))
            continue;
        snprintf(name, sizeof name, "%s%s%s%s", place->is_compute ? "computing before " : "",
                 place->function, *place->region ? " in " : "", place->region);
        set_bar(&bars[count++], name, place->path, "s",
                place->is_compute ? "#33415c" : kind_colours[REPORT_WAIT]);
    }
    qsort(bars, count, sizeof *bars, most_first);
    count = count < BARS_MOST ? count : BARS_MOST;
    draw_bars(p->out, "Critical path", "What decides how long the program runs", bars, count,
              largest(bars, count));
    mem_free(bars);
}

/* If there are more ranks than fit, several are drawn as one with their means. */
static void draw_ranks(struct panel *p)
{
    uint64_t ranks = p->a->ranks, width = (ranks + POINTS_MOST - 1) / POINTS_MOST;
    size_t points = width ? (size_t)((ranks + width - 1) / width) : 0;
    double *xy = mem_zalloc((points * 4 + 1) * sizeof *xy), *mpi = xy + 2 * points;
    for (uint64_t i = 0; i < ranks; i++) {
        uint64_t at = i / width, first = at * width;
        double count = (double)(ranks - first < width ? ranks - first : width);
        xy[2 * at] = mpi[2 * at] = (double)first;
        xy[2 * at + 1] += p->a->rank[i].compute / count;
        mpi[2 * at + 1] += p->a->rank[i].mpi / count;
    }
    enum plot_marks marks = points > 64 ? PLOT_LINE : PLOT_BOTH;
    const struct plot_series series[] = {{"computing", xy, points, marks},
                                         {"in MPI", mpi, points, marks}};
    const struct plot plot = {
        .title = "Ranks",
        .description = "Time that every rank computed, and time that it was in MPI",
        .x = {.label = "rank", .scale = PLOT_LINEAR},
        .y = {.label = "time", .unit = "s", .scale = PLOT_LINEAR},
        .series = series,
        .count = 2,
    };
    draw_plot(&plot, p->out);
    mem_free(xy);
}

/* ---- tables as colours ---- */

struct table {
    uint64_t rows, columns;
    double *values; /* NAN or 0: nothing */
    const char *title, *about, *row_label, *column_label, *unit;
    double row_width, column_width; /* ranks or phases of a cell */
    int logarithmic;
};

static int is_there(double value)
{
    return value > 0 && isfinite(value);
}

/* The position of a value between the least and the largest, from 0 to 1. */
static double on_scale(const struct table *t, double value, double least, double most)
{
    if (most <= least)
        return 0;
    return t->logarithmic ? log(value / least) / log(most / least)
                          : (value - least) / (most - least);
}

static void draw_scale(struct svg *s, const struct table *t, double x, double y, double least,
                       double most)
{
    struct buf text;
    char colour[SVG_COLOUR_MAX];
    for (unsigned i = 0; i < 64; i++) {
        svg_scale(i / 63.0, colour);
        svg_box(s, x + i * 3, y, 3.2, 12, 0, colour, "none");
    }
    buf_init(&text);
    axes_value(least, t->unit, &text);
    buf_adds(&text, " to ");
    axes_value(most, t->unit, &text);
    buf_adds(&text, t->logarithmic ? ", logarithmic" : "");
    svg_text(s, x + 202, y + 11, 12, SVG_START, INK, buf_str(&text));
    buf_fini(&text);
}

static void draw_table(struct buf *out, const struct table *t)
{
    const double left = 80, top = 54, width = WIDTH - 110;
    double height = t->rows == t->columns ? width * 0.75 : 400, least = INFINITY, most = 0;
    double cell_width = width / (double)t->columns, cell_height = height / (double)t->rows;
    struct svg s;
    char colour[SVG_COLOUR_MAX];
    for (uint64_t i = 0; i < t->rows * t->columns; i++)
        if (is_there(t->values[i])) {
            least = t->values[i] < least ? t->values[i] : least;
            most = t->values[i] > most ? t->values[i] : most;
        }
    svg_begin(&s, out, WIDTH, top + height + 84, t->title, t->about);
    svg_text(&s, 16, 24, 16, SVG_START, INK, t->title);
    svg_text(&s, 16, 42, 12, SVG_START, SOFT, t->about);
    svg_box(&s, left, top, width, height, 0, GROUND, "none");
    for (uint64_t r = 0; r < t->rows; r++)
        for (uint64_t c = 0; c < t->columns; c++) {
            double value = t->values[r * t->columns + c];
            if (!is_there(value))
                continue;
            svg_scale(on_scale(t, value, least, most), colour);
            svg_box(&s, left + cell_width * (double)c, top + cell_height * (double)r,
                    cell_width + 0.3, cell_height + 0.3, 0, colour, "none");
        }
    svg_text(&s, left, top + height + 18, 12, SVG_START, INK, "0");
    svg_textf(&s, left + width, top + height + 18, 12, SVG_END, INK, "%.0f",
              (double)t->columns * t->column_width);
    svg_text(&s, left + width / 2, top + height + 18, 12, SVG_MIDDLE, INK, t->column_label);
    svg_text(&s, left - 8, top + 12, 12, SVG_END, INK, "0");
    svg_textf(&s, left - 8, top + height, 12, SVG_END, INK, "%.0f", (double)t->rows * t->row_width);
    svg_text(&s, left - 8, top + height / 2, 12, SVG_END, INK, t->row_label);
    if (most > 0)
        draw_scale(&s, t, left, top + height + 42, least, most);
    svg_end(&s);
}

/* Merges cells, by mean or sum, until at most CELLS_MOST are left in each direction. */
static void shrink(struct table *t, int is_sum)
{
    uint64_t by_row = (t->rows + CELLS_MOST - 1) / CELLS_MOST;
    uint64_t by_column = (t->columns + CELLS_MOST - 1) / CELLS_MOST;
    uint64_t rows = (t->rows + by_row - 1) / by_row,
             columns = (t->columns + by_column - 1) / by_column;
    double *values = mem_zalloc(rows * columns * sizeof *values);
    double *counts = mem_zalloc(rows * columns * sizeof *counts);
    for (uint64_t r = 0; r < t->rows; r++)
        for (uint64_t c = 0; c < t->columns; c++) {
            double value = t->values[r * t->columns + c];
            uint64_t to = r / by_row * columns + c / by_column;
            values[to] += is_there(value) ? value : 0;
            counts[to] += is_there(value);
        }
    for (uint64_t i = 0; i < rows * columns && !is_sum; i++)
        values[i] = counts[i] > 0 ? values[i] / counts[i] : 0;
    mem_free(counts);
    mem_free(t->values);
    t->values = values;
    t->rows = rows;
    t->columns = columns;
    t->row_width *= (double)by_row;
    t->column_width *= (double)by_column;
}

static void draw_matrix(struct panel *p)
{
    struct panels_matrix m;
    panels_matrix_init(&m, p->a);
    struct table t = {.rows = m.size,
                      .columns = m.size,
                      .values = m.bytes,
                      .title = "Who sends to whom",
                      .about = "Bytes of messages from rank to rank",
                      .row_label = "from",
                      .column_label = "to rank",
                      .unit = "B",
                      .row_width = (double)m.width,
                      .column_width = (double)m.width,
                      .logarithmic = 1};
    shrink(&t, 1);
    draw_table(p->out, &t);
    m.bytes = t.values; /* shrink has replaced the values */
    panels_matrix_fini(&m);
}

static void draw_phases(struct panel *p)
{
    if (p->a->phases_count == 0 || p->a->phases[0].count == 0) {
        draw_bars(p->out, "Phases between collectives", "The program has no collective operations",
                  NULL, 0, 0);
        return;
    }
    struct panels_phases ph;
    panels_phases_init(&ph, &p->a->phases[0]);
    struct table t = {.rows = ph.rows,
                      .columns = ph.columns,
                      .values = ph.times,
                      .title = "Phases between collectives",
                      .about = "Time from one collective operation to the next, of every rank",
                      .row_label = "rank",
                      .column_label = "phase",
                      .unit = "s",
                      .row_width = (double)ph.row_width,
                      .column_width = (double)(ph.column_width * p->a->phases[0].merged)};
    shrink(&t, 0);
    draw_table(p->out, &t);
    ph.times = t.values;
    panels_phases_fini(&ph);
}

/* ---- timeline ---- */

#define TIMELINE_BINS 256
#define TONES 5 /* of a colour, from computing to MPI all the time */

static void mix(const char *a, const char *b, double share, char out[SVG_COLOUR_MAX])
{
    unsigned x[3], y[3];
    sscanf(a, "#%2x%2x%2x", &x[0], &x[1], &x[2]);
    sscanf(b, "#%2x%2x%2x", &y[0], &y[1], &y[2]);
    for (unsigned i = 0; i < 3; i++)
        x[i] = (unsigned)((double)x[i] + ((double)y[i] - (double)x[i]) * share + 0.5);
    snprintf(out, SVG_COLOUR_MAX, "#%02x%02x%02x", x[0] & 255, x[1] & 255, x[2] & 255);
}

/* The colour of a cell (grid.h) in a few tones, so that neighbours often share a box; "" if no rank
 * was running. */
static void cell_colour(uint8_t cell, char out[SVG_COLOUR_MAX])
{
    unsigned share = (cell - 1u) % GRID_SHARES, kind = 1 + (cell - 1u) / GRID_SHARES;
    unsigned tone = (share * (TONES - 1) * 2 + GRID_SHARES - 1) / (2 * (GRID_SHARES - 1));
    *out = 0;
    if (cell)
        mix(kind_colours[REPORT_COMPUTE], kind_colours[kind], tone / (TONES - 1.0), out);
}

static void draw_row(struct svg *s, const struct axes *axes, const uint8_t *cells, unsigned bins,
                     double y, double height)
{
    char now[SVG_COLOUR_MAX], next[SVG_COLOUR_MAX];
    for (unsigned from = 0, to; from < bins; from = to) {
        cell_colour(cells[from], now);
        for (to = from + 1; to < bins; to++) {
            cell_colour(cells[to], next);
            if (strcmp(now, next) != 0)
                break;
        }
        double x = axes->left + axes->width * from / bins, width = axes->width * (to - from) / bins;
        if (*now)
            svg_box(s, x, y, width, height, 0, now, "none");
    }
}

static void draw_timeline(struct panel *p)
{
    struct grid g;
    struct svg s;
    const double top = 54, height = 420;
    timeline_grid(p->t, p->t->end, GRID_CELLS / 16, &g);
    const struct grid_level *l = &g.levels[g.level_count - 1];
    unsigned step = 0;
    while (l->bins >> step > TIMELINE_BINS && step < l->steps)
        step++;
    double seconds = (double)p->t->end * (double)p->t->trace->header.tick / (double)VTIME_S;
    struct axes axes =
        {80, top, WIDTH - 110, height, {0, seconds, 0, "time", "s"}, {0, 1, 0, "rank", NULL}};
    svg_begin(&s, p->out, WIDTH, top + height + 90, "Timeline", "What ranks did when, by colour");
    svg_text(&s, 16, 24, 16, SVG_START, INK, "Timeline");
    svg_text(&s, 16, 42, 12, SVG_START, SOFT, "What ranks did when; paler is more computing");
    for (uint64_t row = 0; row < l->rows; row++)
        draw_row(&s, &axes, l->cells[step] + row * (l->bins >> step), l->bins >> step,
                 top + height * (double)row / (double)l->rows, height / (double)l->rows + 0.3);
    struct axes_ticks ticks;
    axes_round_ticks(&axes.x, &ticks);
    axes_draw_ticks_x(&s, &axes, &ticks);
    svg_text(&s, 72, top + 12, 12, SVG_END, INK, "rank 0");
    svg_textf(&s, 72, top + height, 12, SVG_END, INK, "%llu",
              (unsigned long long)(p->a->ranks - 1));
    for (unsigned k = 0; k < REPORT_KINDS; k++) {
        double x = 80 + 88.0 * k;
        svg_box(&s, x, top + height + 50, 12, 12, 2, kind_colours[k], "none");
        svg_text(&s, x + 16, top + height + 60, 11, SVG_START, INK, report_kind_name(k));
    }
    svg_end(&s);
    grid_fini(&g);
}

/* ---- links ---- */

static void draw_links(struct panel *p)
{
    pictures_links(p->a, p->out);
}

static void draw_links_time(struct panel *p)
{
    pictures_links_time(p->a, p->out);
}

/* ---- the files ---- */

/* An empty panel has no picture. */

static const struct {
    const char *name;
    void (*draw)(struct panel *);
} panels[] = {
    {"breakdown", draw_breakdown}, {"efficiency", draw_efficiency}, {"ranks", draw_ranks},
    {"functions", draw_functions}, {"waits", draw_waits},           {"path", draw_path},
    {"matrix", draw_matrix},       {"phases", draw_phases},         {"timeline", draw_timeline},
    {"links", draw_links},         {"links-time", draw_links_time},
};

int pictures_write(const char *folder, size_t number, const struct analysis *a, struct timeline *t,
                   struct err *err)
{
    int rc = path_make_folder(folder, err);
    for (size_t i = 0; i < sizeof panels / sizeof panels[0] && rc == 0; i++) {
        struct buf out, path;
        struct panel p = {a, t, &out};
        buf_init(&out);
        buf_init(&path);
        buf_addf(&path, "%s/%s", folder, panels[i].name);
        if (number)
            buf_addf(&path, "-%zu", number);
        buf_adds(&path, ".svg");
        panels[i].draw(&p);
        if (out.len)
            rc = buf_write_file(&out, buf_str(&path), err);
        buf_fini(&path);
        buf_fini(&out);
    }
    return rc;
}
