/*
 * tune_report.c - see tune_report.h.
 */
#include "cli/tune_report.h"

#include <math.h>
#include <stdio.h>

#include "analysis/tables.h"
#include "base/mem.h"
#include "cli/sweep_range.h"

static void add_percent(struct buf *out, double factor)
{
    double percent = 100 * (factor - 1);
    if (fabs(percent) < 100)
        buf_addf(out, "%+.*f%%", fabs(percent) < 9.95, percent);
    else
        buf_addf(out, "x%.3g", factor);
}

static void add_width(const struct cli_tune *t, size_t i, const struct tune_result *r,
                      struct buf *out)
{
    const struct tune_width *w = &r->widths[i];
    const struct tune_parameter *p = &t->parameters[i];
    char low[64], high[64];
    sweep_number_text(w->low, t->settings[i].unit, low, sizeof low);
    sweep_number_text(w->high, t->settings[i].unit, high, sizeof high);
    if (w->low <= p->low && w->high >= p->high) {
        buf_adds(out, "not determined: it has no measurable effect");
        return;
    }
    if (w->is_open || w->high_factor > 3 * w->low_factor) {
        buf_addf(out, "poorly determined");
        if (w->partner >= 0)
            buf_addf(out, ": %s compensates for it", t->settings[w->partner].key);
        buf_addf(out, "; alone %s to %s", low, high);
        return;
    }
    buf_adds(out, "within ");
    add_percent(out, r->values[i] ? w->low_factor : 1);
    buf_adds(out, " ");
    add_percent(out, r->values[i] ? w->high_factor : 1);
    if (w->partner >= 0)
        buf_addf(out, ", with %s", t->settings[w->partner].key);
}

void cli_tune_report(struct cli_tune *t, const struct tune_result *r, struct buf *out)
{
    double groups[ANALYSIS_GROUPS];
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
    for (int g = 0; g < ANALYSIS_GROUPS; g++)
        groups[g] = NAN;
    if (!r->is_stopped && isfinite(tune_run_errors(&t->run, r->values, groups))) {
        buf_adds(out, "\nerror by group:");
        for (int g = 0; g < ANALYSIS_GROUPS; g++)
            if (isfinite(groups[g]))
                buf_addf(out, " %s %.3g%%", analysis_groups[g].name, 100 * groups[g]);
        buf_adds(out, "\n");
    }
    char *sets = tune_run_text(&t->run, r->values);
    buf_addf(out, "\nuse it with: --set %s\n", sets);
    mem_free(sets);
}
