/*
 * sweep_report.c - the table, CSV and JSON of a sweep.
 */
#include "experiment/sweep_report.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/units.h"

#define TIME_WIDTH 14
#define RATIO_WIDTH 10
#define MESSAGES_WIDTH 16
#define WALL_WIDTH 11

static int is_good(const struct sweep_result *r)
{
    return r->done && r->status == 0 && r->has_summary;
}

/* Virtual time relative to the baseline; NAN if there is none. */
static double ratio_of(const struct sweep_report *s, size_t point)
{
    const struct sweep_result *r = &s->results[point], *base = &s->results[s->baseline];
    return is_good(r) && is_good(base) && base->summary.time_ps
               ? (double)r->summary.time_ps / (double)base->summary.time_ps
               : NAN;
}

/* ---- table ---- */

static int column_width(const struct sweep_dim *dim)
{
    size_t width = strlen(dim->key);
    for (size_t i = 0; i < dim->count; i++) {
        size_t length = strlen(dim->values[i].text);
        width = length > width ? length : width;
    }
    return (int)width + 2;
}

void sweep_table_head(const struct sweep_report *s, struct buf *out)
{
    for (size_t i = 0; i < s->grid->count; i++)
        if (sweep_dim_varies(&s->grid->dims[i]))
            buf_addf(out, "%-*s", column_width(&s->grid->dims[i]), s->grid->dims[i].key);
    buf_addf(out, "%*s%*s%*s%*s\n", TIME_WIDTH, "virtual time", RATIO_WIDTH, "ratio",
             MESSAGES_WIDTH, "messages", WALL_WIDTH, "wall time");
}

void sweep_table_row(const struct sweep_report *s, size_t point, struct buf *out)
{
    const struct sweep_result *r = &s->results[point];
    char time[UNITS_TEXT_MAX] = "-", ratio[32] = "-", messages[UNITS_TEXT_MAX] = "-",
         wall[32] = "-";
    double relative = ratio_of(s, point);
    for (size_t i = 0; i < s->grid->count; i++)
        if (sweep_dim_varies(&s->grid->dims[i]))
            buf_addf(out, "%-*s", column_width(&s->grid->dims[i]),
                     sweep_grid_value(s->grid, point, i)->text);
    if (is_good(r)) {
        units_format_time(time, sizeof time, (vtime)r->summary.time_ps);
        units_format_count(messages, sizeof messages, r->summary.messages);
    } else {
        snprintf(time, sizeof time, "exit %d", r->status);
    }
    if (r->has_summary)
        snprintf(wall, sizeof wall, "%.2f s", r->summary.wall_s);
    if (!isnan(relative))
        snprintf(ratio, sizeof ratio, relative < 1e4 && relative >= 1e-3 ? "%.4f" : "%.3g",
                 relative);
    buf_addf(out, "%*s%*s%*s%*s\n", TIME_WIDTH, time, RATIO_WIDTH, ratio, MESSAGES_WIDTH, messages,
             WALL_WIDTH, wall);
}

/* ---- CSV ---- */

static const char *unit_suffix(const struct sweep_dim *dim)
{
    if (!dim->unit || !*dim->unit)
        return "";
    return strcmp(dim->unit, "s") == 0   ? "_s"
           : strcmp(dim->unit, "B") == 0 ? "_bytes"
                                         : "_bits_per_s";
}

static void csv_row(const struct sweep_report *s, size_t point, struct buf *out)
{
    const struct sweep_result *r = &s->results[point];
    char text[UNITS_TEXT_MAX];
    double relative = ratio_of(s, point);
    for (size_t i = 0; i < s->grid->count; i++) {
        const struct sweep_value *v = sweep_grid_value(s->grid, point, i);
        buf_add_csv(out, s->grid->dims[i].unit ? units_format_double(text, sizeof text, v->number)
                                               : v->text);
        buf_addc(out, ',');
    }
    if (r->has_summary)
        buf_addf(out, "%llu.%012llu", (unsigned long long)(r->summary.time_ps / VTIME_S),
                 (unsigned long long)(r->summary.time_ps % VTIME_S));
    buf_addf(out, ",%s", isnan(relative) ? "" : units_format_double(text, sizeof text, relative));
    if (r->has_summary)
        buf_addf(out, ",%llu,%llu,%s", (unsigned long long)r->summary.messages,
                 (unsigned long long)r->summary.bytes,
                 units_format_double(text, sizeof text, r->summary.wall_s));
    else
        buf_adds(out, ",,,");
    buf_addf(out, ",%d\n", r->status);
}

void sweep_csv(const struct sweep_report *s, struct buf *out)
{
    for (size_t i = 0; i < s->grid->count; i++) {
        buf_add_csv(out, s->grid->dims[i].key);
        buf_addf(out, "%s,", unit_suffix(&s->grid->dims[i]));
    }
    buf_adds(out, "virtual_time_s,ratio,messages,bytes,wall_s,exit_status\n");
    for (size_t i = 0; i < sweep_grid_points(s->grid); i++)
        if (s->results[i].done)
            csv_row(s, i, out);
}

/* ---- JSON ---- */

static void put_settings(struct json *j, const struct sweep_report *s, size_t point)
{
    json_object_begin(j);
    for (size_t i = 0; i < s->grid->count; i++) {
        json_key(j, s->grid->dims[i].key);
        json_string(j, sweep_grid_value(s->grid, point, i)->text);
    }
    json_object_end(j);
}

static void put_point(struct json *j, const struct sweep_report *s, size_t point)
{
    const struct sweep_result *r = &s->results[point];
    json_object_begin(j);
    json_key(j, "settings");
    put_settings(j, s, point);
    json_key(j, "exit_status");
    json_int(j, r->status);
    if (r->has_summary) {
        json_key(j, "virtual_time_s");
        json_decimal(j, r->summary.time_ps, 12);
        json_put_uint(j, "messages", r->summary.messages);
        json_put_uint(j, "bytes", r->summary.bytes);
        json_key(j, "wall_s");
        json_double(j, r->summary.wall_s);
    }
    json_key(j, "ratio");
    json_double(j, ratio_of(s, point));
    if (r->why) {
        json_key(j, "error");
        json_string(j, r->why);
    }
    json_object_end(j);
}

static void put_dim(struct json *j, const struct sweep_dim *dim)
{
    json_object_begin(j);
    json_key(j, "key");
    json_string(j, dim->key);
    json_key(j, "unit");
    json_string(j, dim->unit);
    json_key(j, "values");
    json_array_begin(j);
    for (size_t i = 0; i < dim->count; i++) {
        if (dim->unit && isfinite(dim->values[i].number))
            json_double(j, dim->values[i].number);
        else
            json_string(j, dim->values[i].text);
    }
    json_array_end(j);
    json_object_end(j);
}

void sweep_json(const struct sweep_report *s, struct buf *out)
{
    struct json j;
    json_init(&j, out);
    json_object_begin(&j);
    json_key(&j, "program");
    json_array_begin(&j);
    for (size_t i = 0; s->program[i]; i++)
        json_string(&j, s->program[i]);
    json_array_end(&j);
    json_key(&j, "dimensions");
    json_array_begin(&j);
    for (size_t i = 0; i < s->grid->count; i++)
        put_dim(&j, &s->grid->dims[i]);
    json_array_end(&j);
    json_key(&j, "baseline");
    put_settings(&j, s, s->baseline);
    json_key(&j, "points");
    json_array_begin(&j);
    for (size_t i = 0; i < sweep_grid_points(s->grid); i++)
        if (s->results[i].done)
            put_point(&j, s, i);
    json_array_end(&j);
    json_object_end(&j);
    json_fini(&j);
}
