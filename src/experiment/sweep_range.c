/*
 * sweep_range.c - values and ranges. The meaning of a value depends only on its unit, so settings
 * of any kind, numbers of ranks and fields of lists are read in the same way; the platform decides
 * whether a setting accepts it.
 *
 * Ranges are computed in SI units and written in the largest unit that leaves a number of at least
 * 1. Every value is computed from the first one by one operation, so errors do not accumulate.
 */
#include "experiment/sweep_range.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/mem.h"
#include "base/units.h"

#define ROUNDING 1e-9 /* the last value may exceed the end by this fraction */

double sweep_number(const char *text, const char **unit)
{
    struct err err;
    double number;
    uint64_t count;
    vtime time;
    *unit = "";
    if (units_parse_double(text, &number, &err) == 0)
        return number;
    if (units_parse_count(text, &count, &err) == 0)
        return (double)count;
    if (units_parse_time(text, &time, &err) == 0) {
        *unit = "s";
        return (double)time / (double)VTIME_S;
    }
    if (units_parse_bandwidth(text, &number, &err) == 0) {
        *unit = "bit/s";
        return number;
    }
    if (units_parse_size(text, &count, &err) == 0) {
        *unit = "B";
        return (double)count;
    }
    return NAN;
}

/* ---- numbers as texts ---- */

struct scale {
    double size;
    const char *name;
};

/* The largest unit that leaves at least 1, or the smallest one, with which the table ends. */
static void write_scaled(double value, const struct scale *scale, char *out, size_t size)
{
    while (scale[1].name && value < scale->size * (1 - ROUNDING))
        scale++;
    snprintf(out, size, "%.10g%s", value / scale->size, scale->name);
}

static void write_bytes(double value, char *out, size_t size)
{
    static const char *const prefixes[] = {"", "Ki", "Mi", "Gi", "Ti"};
    size_t i = 0;
    value = nearbyint(value);
    for (; i < 4 && value >= 1024 && fmod(value, 1024) == 0; i++)
        value /= 1024;
    snprintf(out, size, "%.0f%sB", value, prefixes[i]);
}

void sweep_number_text(double value, const char *unit, char *out, size_t size)
{
    static const struct scale times[] = {{1, "s"},     {1e-3, "ms"},  {1e-6, "us"},
                                         {1e-9, "ns"}, {1e-12, "ps"}, {0, NULL}};
    static const struct scale rates[] = {{1e12, "Tbps"}, {1e9, "Gbps"}, {1e6, "Mbps"},
                                         {1e3, "kbps"},  {1, "bps"},    {0, NULL}};
    if (value == 0)
        snprintf(out, size, "0");
    else if (strcmp(unit, "s") == 0)
        write_scaled(value, times, out, size);
    else if (strcmp(unit, "bit/s") == 0)
        write_scaled(value, rates, out, size);
    else if (strcmp(unit, "B") == 0)
        write_bytes(value, out, size);
    else
        snprintf(out, size, "%.10g", value);
}

/* ---- ranges ---- */

struct range {
    double first, last, step;
    int geometric;
    const char *unit;
};

static int add_value(struct sweep_dim *dim, const char *text, struct err *err)
{
    if (dim->count == SWEEP_POINTS_MAX)
        return err_set(err, ERR_INPUT, "more than %d values", SWEEP_POINTS_MAX);
    ARRAY_EXTEND(dim->values, dim->count);
    struct sweep_value *value = &dim->values[dim->count++];
    value->text = mem_strdup(text);
    value->number = sweep_number(text, &value->unit);
    return 0;
}

/* A number in a range; a bare 0 fits any unit. */
static int read_part(const char *text, size_t length, double *out, const char **unit)
{
    char copy[64];
    if (length >= sizeof copy)
        return 0;
    memcpy(copy, text, length);
    copy[length] = 0;
    *out = sweep_number(copy, unit);
    return isfinite(*out);
}

static int same_unit(double value, const char *unit, const char *wanted)
{
    return strcmp(unit, wanted) == 0 || (value == 0 && !*unit);
}

/* Where the step begins: at "*", or at a "+" that is not part of a number. */
static const char *find_step(const char *text)
{
    const char *step = strrchr(text, '*');
    for (const char *at = text; !step && (at = strchr(at, '+')) != NULL; at++)
        if (at == text || tolower((unsigned char)at[-1]) != 'e' || !isdigit((unsigned char)at[1]))
            step = at;
    return step;
}

static int read_range(const char *item, const char *dots, struct range *r, struct err *err)
{
    const char *step = find_step(dots + 2), *first_unit, *step_unit;
    if (!step)
        return err_set(err, ERR_INPUT, "range '%s' has no step: write %s*2 or %s+1, for example",
                       item, item, item);
    r->geometric = *step == '*';
    if (!read_part(item, (size_t)(dots - item), &r->first, &first_unit) ||
        !read_part(dots + 2, (size_t)(step - dots - 2), &r->last, &r->unit) ||
        !read_part(step + 1, strlen(step + 1), &r->step, &step_unit) ||
        !same_unit(r->first, first_unit, r->unit) ||
        !same_unit(r->step, step_unit, r->geometric ? "" : r->unit))
        return err_set(err, ERR_INPUT,
                       "bad range '%s': expected FIRST..LAST*FACTOR or "
                       "FIRST..LAST+STEP in the same unit, such as 1us..1ms*10",
                       item);
    if (r->first > r->last)
        return err_set(err, ERR_INPUT, "bad range '%s': its first value is above its last", item);
    if (r->geometric ? r->step <= 1 || r->first <= 0 : r->step <= 0)
        return err_set(err, ERR_INPUT, "bad range '%s': it would never end; %s", item,
                       r->geometric ? "the factor must be above 1, the first value above 0"
                                    : "the step must be above 0");
    return 0;
}

int sweep_range_add(struct sweep_dim *dim, const char *item, struct err *err)
{
    const char *dots = strstr(item, "..");
    struct range r;
    int rc;
    if (!*item)
        return err_set(err, ERR_INPUT, "a value is empty");
    if (!dots || !isdigit((unsigned char)*item)) /* "../machine.yaml" is not a range */
        return add_value(dim, item, err);
    rc = read_range(item, dots, &r, err);
    if (rc)
        return rc;
    double slack = r.geometric ? r.last * ROUNDING : r.step * ROUNDING;
    for (size_t i = 0; rc == 0; i++) {
        char text[64];
        double value = r.geometric ? r.first * pow(r.step, (double)i)
                                   : r.first + r.step * (double)i;
        if (value > r.last + slack)
            break;
        sweep_number_text(value, r.unit, text, sizeof text);
        rc = add_value(dim, text, err);
    }
    return rc;
}
