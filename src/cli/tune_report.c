/*
 * tune_report.c - prints what `orrery tune` has found (see tune_report.h).
 */
#include "cli/tune_report.h"

#include <math.h>
#include <stdio.h>

#include "analysis/tables.h"
#include "base/json.h"
#include "base/mem.h"
#include "experiment/sweep_range.h"

static void add_percent(struct buf *out, double factor)
{
    double percent = 100 * (factor - 1);
    if (fabs(percent) < 100)
        buf_addf(out, "%+.*f%%", fabs(percent) < 9.95, percent);
    else
        buf_addf(out, "x%.3g", factor);
}

enum determined { DETERMINED_NOT, DETERMINED_POORLY, DETERMINED_WELL };

static enum determined how_well(const struct tune_parameter *p, const struct tune_width *w)
{
    if (w->low <= p->low && w->high >= p->high)
        return DETERMINED_NOT;
    return w->is_open || w->high_factor > 3 * w->low_factor ? DETERMINED_POORLY : DETERMINED_WELL;
}

static void add_width(const struct cli_tune *t, size_t i, const struct tune_result *r,
                      struct buf *out)
{
    const struct tune_width *w = &r->widths[i];
    char low[64], high[64];
    sweep_number_text(w->low, t->settings[i].unit, low, sizeof low);
    sweep_number_text(w->high, t->settings[i].unit, high, sizeof high);
    switch (how_well(&t->parameters[i], w)) {
    case DETERMINED_NOT:
        buf_adds(out, "not determined: it has no measurable effect");
        return;
    case DETERMINED_POORLY:
        buf_addf(out, "poorly determined");
        if (w->partner >= 0)
            buf_addf(out, ": %s compensates for it", t->settings[w->partner].key);
        buf_addf(out, "; alone %s to %s", low, high);
        return;
    case DETERMINED_WELL:
        break;
    }
    buf_adds(out, "within ");
    add_percent(out, r->values[i] ? w->low_factor : 1);
    buf_adds(out, " ");
    add_percent(out, r->values[i] ? w->high_factor : 1);
    if (w->partner >= 0)
        buf_addf(out, ", with %s", t->settings[w->partner].key);
}

void cli_tune_errors(struct cli_tune *t, const struct tune_result *r, double *groups)
{
    for (int g = 0; g < ANALYSIS_GROUPS; g++)
        groups[g] = NAN;
    if (!r->is_stopped && !isfinite(tune_run_errors(&t->run, r->values, groups)))
        for (int g = 0; g < ANALYSIS_GROUPS; g++)
            groups[g] = NAN;
}

static void add_groups(const double *groups, struct buf *out)
{
    int count = 0;
    for (int g = 0; g < ANALYSIS_GROUPS; g++)
        if (isfinite(groups[g]))
            buf_addf(out, "%s %s %.3g%%",
                     count++ ? "" : "\nerror by group:", analysis_groups[g].name, 100 * groups[g]);
    if (count)
        buf_adds(out, "\n");
}

void cli_tune_report(const struct cli_tune *t, const struct tune_result *r, const double *groups,
                     struct buf *out)
{
    char number[64];
    buf_addf(out, "%s after %u runs%s: mean error %.3g%%\n\n",
             r->is_stopped ? "interrupted" : "found", r->evaluations + r->repeated,
             r->repeated && !r->evaluations ? ", all in the log" : "", 100 * r->error);
    for (size_t i = 0; i < t->count; i++) {
        sweep_number_text(r->values[i], t->settings[i].unit, number, sizeof number);
        buf_addf(out, "  %-20s %-14s ", t->settings[i].key, number);
        if (!r->is_stopped)
            add_width(t, i, r, out);
        buf_adds(out, "\n");
    }
    add_groups(groups, out);
    char *sets = tune_run_text(&t->run, r->values);
    buf_addf(out, "\nuse it with: --set %s\n", sets);
    mem_free(sets);
}

/* ---- JSON ---- */

/* A setting that was found. Numbers are in its unit: "s", "bit/s", "B" or none. */
static void put_found(struct json *j, const struct cli_tune *t, size_t i,
                      const struct tune_result *r)
{
    static const char *const words[] = {"not", "poorly", "well"};
    const struct tune_width *w = &r->widths[i];
    char text[64];
    sweep_number_text(r->values[i], t->settings[i].unit, text, sizeof text);
    json_key(j, t->settings[i].key);
    json_object_begin(j);
    json_put_string(j, "value", text);
    json_put_double(j, "number", r->values[i]);
    json_put_string(j, "unit", t->settings[i].unit);
    if (!r->is_stopped) {
        json_put_string(j, "determined", words[how_well(&t->parameters[i], w)]);
        json_put_double(j, "low", w->low);
        json_put_double(j, "high", w->high);
        json_put_string(j, "partner", w->partner >= 0 ? t->settings[w->partner].key : NULL);
    }
    json_object_end(j);
}

void cli_tune_json(const struct cli_tune *t, const struct tune_result *r, const double *groups,
                   double wall_s, int status, struct buf *out)
{
    struct json j;
    json_init(&j, out);
    json_object_begin(&j);
    json_put_string(&j, "reference", t->reference_path);
    json_put_string(&j, "program", t->runs.program[0]);
    json_key(&j, "runs");
    json_uint(&j, r->evaluations + r->repeated);
    json_key(&j, "from_log");
    json_uint(&j, r->repeated);
    json_put_double(&j, "error", r->error);
    json_key(&j, "settings");
    json_object_begin(&j);
    for (size_t i = 0; i < t->count; i++)
        put_found(&j, t, i, r);
    json_object_end(&j);
    json_key(&j, "errors");
    json_object_begin(&j);
    for (int g = 0; g < ANALYSIS_GROUPS; g++)
        if (isfinite(groups[g]))
            json_put_double(&j, analysis_groups[g].name, groups[g]);
    json_object_end(&j);
    char *sets = tune_run_text(&t->run, r->values);
    json_put_string(&j, "set", sets);
    mem_free(sets);
    json_put_double(&j, "wall_s", wall_s);
    json_key(&j, "exit_status");
    json_int(&j, status);
    json_put_string(&j, "cause", r->is_stopped ? "stopped" : "done");
    json_object_end(&j);
    json_fini(&j);
}
