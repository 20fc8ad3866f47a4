/*
 * compare_write.c - a comparison as tables and as text.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/compare.h"
#include "base/units.h"

static void add_groups(const struct comparison *c, struct tables *out)
{
    static const char *const columns[] = {"values", "mean",   "max",    "variance",
                                          "rows",   "only-a", "only-b", "structure"};
    struct table *t = tables_add(out, "groups", "groups");
    table_add_column(out, t, "group", "", TABLE_KEY);
    for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++)
        table_add_column(out, t, columns[i], "", TABLE_RATIO);
    for (size_t i = 0; i < c->group_count; i++) {
        const struct compare_group *g = &c->groups[i];
        const double numbers[] = {(double)g->values, g->mean,         g->max,
                                  g->variance,       (double)g->rows, (double)g->only_a,
                                  (double)g->only_b, g->structure};
        union table_cell *row = table_add_row(t);
        row[0].text = tables_keep_text(out, g->name);
        for (size_t k = 0; k < sizeof numbers / sizeof numbers[0]; k++)
            row[1 + k].number = numbers[k];
    }
}

void compare_tables(const struct comparison *c, struct tables *out)
{
    tables_init(out);
    out->kind = "comparison";
    tables_add_meta(out, "a", tables_meta(&c->memory, "a"));
    tables_add_meta(out, "b", tables_meta(&c->memory, "b"));
    tables_add_meta(out, "metric", compare_metric_name(c->options.metric));
    if (c->options.skeleton)
        tables_add_meta(out, "skeleton", "yes");
    add_groups(c, out);
    struct table *t = tables_add(out, "structure", "only");
    table_add_column(out, t, "table", "", TABLE_KEY);
    table_add_column(out, t, "row", "", TABLE_KEY);
    table_add_column(out, t, "side", "", TABLE_NOTE);
    for (size_t i = 0; i < c->only_count; i++) {
        union table_cell *row = table_add_row(t);
        row[0].text = tables_keep_text(out, c->only[i].table);
        row[1].text = tables_keep_text(out, c->only[i].row);
        row[2].text = c->only[i].is_b ? "b" : "a";
    }
    t = tables_add(out, "differences", "differences");
    table_add_column(out, t, "table", "", TABLE_KEY);
    table_add_column(out, t, "row", "", TABLE_KEY);
    table_add_column(out, t, "column", "", TABLE_KEY);
    table_add_column(out, t, "a", "", TABLE_RATIO);
    table_add_column(out, t, "b", "", TABLE_RATIO);
    table_add_column(out, t, "error", "", TABLE_RATIO);
    table_add_column(out, t, "weight", "", TABLE_RATIO);
    for (size_t i = 0; i < c->difference_count; i++) {
        const struct compare_difference *d = &c->differences[i];
        union table_cell *row = table_add_row(t);
        row[0].text = tables_keep_text(out, d->table);
        row[1].text = tables_keep_text(out, d->row);
        row[2].text = tables_keep_text(out, d->column);
        row[3].number = d->a;
        row[4].number = d->b;
        row[5].number = d->error;
        row[6].number = d->weight;
    }
}

/* ---- for people ---- */

static const char *value_text(char *out, size_t n, double value, const char *unit)
{
    char text[UNITS_TEXT_MAX];
    if (strcmp(unit, "s") == 0) {
        units_format_time(text, sizeof text, vtime_from_seconds(value));
        const char *at = strchr(text, ' ');
        snprintf(out, n, "%.4g%.10s", strtod(text, NULL), at ? at : "");
    } else if (unit[0] == 'B') {
        units_format_bytes(text, sizeof text, (uint64_t)value);
        snprintf(out, n, "%s%.4s", text, unit + 1);
    } else {
        snprintf(out, n, "%.5g", value);
    }
    return out;
}

/* A logarithmic error is a factor; the others are shares. */
static const char *error_text(char *out, size_t n, enum compare_metric metric, double error)
{
    if (metric == COMPARE_LOG)
        snprintf(out, n, "%.4g", error);
    else
        snprintf(out, n, "%.2f%%", 100 * error);
    return out;
}

static void text_only(const struct comparison *c, struct buf *out)
{
    uint64_t all = 0;
    for (size_t i = 0; i < c->group_count; i++)
        all += c->groups[i].only_a + c->groups[i].only_b;
    if (!all)
        return;
    buf_addf(out, "\nOnly in one of them\n");
    for (size_t i = 0; i < c->only_count; i++)
        buf_addf(out, "  %s: %s %.60s\n", c->only[i].is_b ? "B" : "A", c->only[i].table,
                 c->only[i].row);
    if (all > c->only_count)
        buf_addf(out, "  ... %llu in all\n", (unsigned long long)all);
}

void compare_text(const struct comparison *c, struct buf *out)
{
    char a[64], b[64], e[64];
    buf_addf(out, "A              %s\nB              %s\n", tables_meta(&c->memory, "a"),
             tables_meta(&c->memory, "b"));
    buf_addf(out, "error          %s%s\n\n", compare_metric_name(c->options.metric),
             c->options.skeleton ? "; traffic and structure alone" : "");
    buf_addf(out, "%-14s %10s %12s %12s %12s %10s\n", "Groups", "values", "mean", "most",
             "variance", "structure");
    for (size_t i = 0; i < c->group_count; i++) {
        const struct compare_group *g = &c->groups[i];
        buf_addf(out, "  %-12s %10llu %12s %12s %12.4g", g->name, (unsigned long long)g->values,
                 error_text(a, sizeof a, c->options.metric, g->mean),
                 error_text(b, sizeof b, c->options.metric, g->max), g->variance);
        if (g->rows)
            buf_addf(out, " %9.2f%%\n", 100 * g->structure);
        else
            buf_adds(out, "          -\n");
    }
    text_only(c, out);
    if (c->difference_count)
        buf_addf(out, "\n%-38s %12s %12s %12s\n", "What differs most", "A", "B", "error");
    for (size_t i = 0; i < c->difference_count; i++) {
        const struct compare_difference *d = &c->differences[i];
        char name[128];
        snprintf(name, sizeof name, "%s%s%s %s", d->table, *d->row ? " " : "", d->row, d->column);
        buf_addf(out, "  %-36.36s %12s %12s %12s\n", name, value_text(a, sizeof a, d->a, d->unit),
                 value_text(b, sizeof b, d->b, d->unit),
                 error_text(e, sizeof e, c->options.metric, d->error));
    }
    if (!c->difference_count)
        buf_adds(out, "\nNo value differs.\n");
}
