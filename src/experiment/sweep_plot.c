/*
 * sweep_plot.c - the plot of a sweep: virtual time over one dimension, a series for each
 * combination of the others.
 *
 * If the values are names, the points of a series keep their order; else they are sorted. Numbers
 * that do not fit an axis (an infinite bandwidth, a 0 among values of many magnitudes) turn it into
 * an axis of names.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/vtime.h"
#include "experiment/sweep_report.h"
#include "draw/plot.h"

/* Ratio of the largest to the smallest value above 0 from which a linear axis is of little use. */
#define DECADES 20.0

static int fits_numbers(const struct sweep_dim *dim)
{
    double least = INFINITY, most = 0;
    int zero = 0;
    if (!dim->unit)
        return 0;
    for (size_t i = 0; i < dim->count; i++) {
        double v = dim->values[i].number;
        if (!isfinite(v))
            return 0;
        zero |= v <= 0;
        least = v > 0 && v < least ? v : least;
        most = v > most ? v : most;
    }
    return !zero || most < DECADES * least;
}

/* Do the values differ by factors rather than by differences? Then their mean is near the middle of
 * the logarithms. */
static int is_geometric(const struct sweep_dim *dim)
{
    double least = INFINITY, most = 0, sum = 0, logs = 0;
    for (size_t i = 0; i < dim->count; i++) {
        double v = dim->values[i].number;
        least = fmin(least, v);
        most = fmax(most, v);
        sum += v / (double)dim->count;
        logs += log(v) / (double)dim->count;
    }
    if (dim->count < 3 || least <= 0 || most <= least)
        return 0;
    return fabs((logs - log(least)) / log(most / least) - 0.5) <
           fabs((sum - least) / (most - least) - 0.5);
}

static int by_x(const void *a, const void *b)
{
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* The values of a series; `first` is its point with the first value. */
static double *make_values(const struct sweep_report *s, size_t dim, size_t first, size_t stride,
                           int numbers)
{
    const struct sweep_dim *d = &s->grid->dims[dim];
    double *xy = mem_alloc(2 * d->count * sizeof *xy);
    for (size_t i = 0; i < d->count; i++) {
        const struct sweep_result *r = &s->results[first + i * stride];
        int good = r->done && r->status == 0 && r->has_summary;
        xy[2 * i] = numbers ? d->values[i].number : (double)i;
        xy[2 * i + 1] = good ? (double)r->summary.time_ps / (double)VTIME_S : NAN;
    }
    if (numbers)
        qsort(xy, d->count, 2 * sizeof *xy, by_x);
    return xy;
}

/* All series, one for each point with the first value of the dimension. */
static struct plot_series *make_series(const struct sweep_report *s, size_t dim, int numbers,
                                       size_t *count)
{
    const struct sweep_grid *g = s->grid;
    size_t stride = 1, points = sweep_grid_points(g), n = 0;
    struct plot_series *series = mem_zalloc(points / g->dims[dim].count * sizeof *series);
    for (size_t i = dim + 1; i < g->count; i++)
        stride *= g->dims[i].count;
    for (size_t point = 0; point < points; point++) {
        struct buf name;
        if (sweep_grid_index(g, point, dim) != 0)
            continue;
        buf_init(&name);
        sweep_grid_name(g, point, &g->dims[dim], &name);
        series[n].xy = make_values(s, dim, point, stride, numbers);
        series[n].points = g->dims[dim].count;
        series[n].name = name.len ? buf_take(&name) : NULL;
        n++;
        buf_fini(&name);
    }
    *count = n;
    return series;
}

void sweep_plot(const struct sweep_report *s, size_t dim, struct buf *out)
{
    const struct sweep_dim *d = &s->grid->dims[dim];
    const char *slash = strrchr(s->program[0], '/');
    int numbers = fits_numbers(d);
    const char **names = mem_alloc(d->count * sizeof *names);
    struct buf title;
    for (size_t i = 0; i < d->count; i++)
        names[i] = d->values[i].text;
    buf_init(&title);
    buf_addf(&title, "%s: virtual time over %s", slash ? slash + 1 : s->program[0], d->key);
    struct plot plot = {.title = buf_str(&title),
                        .description = "made by orrery sweep",
                        .x = {.label = d->key, .unit = d->unit},
                        .y = {.label = "virtual time", .unit = "s"}};
    if (numbers && is_geometric(d))
        plot.x.scale = PLOT_LOG;
    if (!numbers) {
        plot.x.names = names;
        plot.x.name_count = d->count;
    }
    struct plot_series *series = make_series(s, dim, numbers, &plot.count);
    plot.series = series;
    draw_plot(&plot, out);
    for (size_t i = 0; i < plot.count; i++) {
        mem_free((void *)series[i].xy);
        mem_free((void *)series[i].name);
    }
    mem_free(series);
    mem_free(names);
    buf_fini(&title);
}
