/*
 * widths.c - how well values are determined.
 *
 * First each parameter is moved alone, until the error exceeds the least one by more than the
 * tolerance. Then it is moved further, and one other parameter at a time may follow: if that brings
 * the error back, only the two together are determined. This is done by trial, since the error is
 * not smooth.
 */
#include <math.h>
#include <string.h>

#include "tune/tune_internal.h"

#define FOLLOW_TRIES 16 /* evaluations to find the value to which another parameter follows */
#define FOLLOW_STEPS 6  /* times that a parameter is moved further */

struct widths {
    double best[TUNE_PARAMETERS_MAX], limit;
    double reach[TUNE_PARAMETERS_MAX][2];  /* positions, alone: down, up */
    double shared[TUNE_PARAMETERS_MAX][2]; /* with another parameter that follows */
    int partner[TUNE_PARAMETERS_MAX][2];
};

static double moved(struct search *s, const struct widths *w, size_t i, double to)
{
    double at[TUNE_PARAMETERS_MAX];
    memcpy(at, w->best, sizeof at);
    at[i] = to;
    return tune_error_at(s, at);
}

/* How far parameter number / 2 can be moved alone: down if the number is even, else up. */
static void move_alone(struct search *s, size_t number, void *context)
{
    static const double steps[] = {0.0025, 0.005, 0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1};
    struct widths *w = context;
    size_t i = number / 2;
    double good = w->best[i], bad = NAN;
    for (size_t k = 0; k < sizeof steps / sizeof steps[0] && isnan(bad); k++) {
        double to = number % 2 ? fmin(1, w->best[i] + steps[k]) : fmax(0, w->best[i] - steps[k]);
        if (to == good || tune_is_stopped(s))
            break;
        if (moved(s, w, i, to) <= w->limit)
            good = to;
        else
            bad = to;
    }
    for (int k = 0; k < 3 && !isnan(bad); k++) {
        double middle = (good + bad) / 2;
        if (moved(s, w, i, middle) <= w->limit)
            good = middle;
        else
            bad = middle;
    }
    w->reach[i][number % 2] = good;
}

static double error_on(struct search *s, double *at, size_t j, double to)
{
    at[j] = to;
    return tune_error_at(s, at);
}

/* Finds the least error on a line along parameter j through `at` by golden section; at[j] becomes
 * its position. Ends as soon as the error is within the limit. */
static double follow(struct search *s, double *at, size_t j, double limit)
{
    const double golden = 0.618033988749895;
    double low = fmax(0, at[j] - 0.5), high = fmin(1, at[j] + 0.5);
    double a = high - golden * (high - low), b = low + golden * (high - low);
    double at_a = error_on(s, at, j, a), at_b = error_on(s, at, j, b);
    for (int k = 2; k < FOLLOW_TRIES && fmin(at_a, at_b) > limit && !tune_is_stopped(s); k++) {
        if (at_a < at_b) {
            high = b, b = a, at_b = at_a;
            at_a = error_on(s, at, j, a = high - golden * (high - low));
        } else {
            low = a, a = b, at_a = at_b;
            at_b = error_on(s, at, j, b = low + golden * (high - low));
        }
    }
    at[j] = at_a < at_b ? a : b;
    return fmin(at_a, at_b);
}

static void move_together(struct search *s, size_t number, void *context)
{
    struct widths *w = context;
    size_t i = number / 2;
    int up = number % 2;
    double alone = w->reach[i][up], step = fmax(0.02, 2 * fabs(alone - w->best[i]));
    w->shared[i][up] = alone;
    w->partner[i][up] = -1;
    for (size_t j = 0; j < s->problem->count; j++) {
        double at[TUNE_PARAMETERS_MAX];
        memcpy(at, w->best, sizeof at);
        for (int k = 0; j != i && k < FOLLOW_STEPS && !tune_is_stopped(s); k++) {
            double to = w->best[i] + (up ? 1 : -1) * step * (double)(1 << k);
            at[i] = to < 0 ? 0 : to > 1 ? 1 : to;
            if (fabs(at[i] - w->best[i]) <= fabs(w->shared[i][up] - w->best[i]))
                continue;
            if (follow(s, at, j, w->limit) > w->limit)
                break;
            w->shared[i][up] = at[i];
            w->partner[i][up] = (int)j;
        }
    }
}

static void fill(const struct search *s, const struct widths *w, size_t i, struct tune_width *out)
{
    const struct tune_parameter *p = &s->problem->parameters[i];
    double value = tune_value(p, w->best[i]);
    out->low = tune_value(p, w->reach[i][0]);
    out->high = tune_value(p, w->reach[i][1]);
    out->low_factor = value ? tune_value(p, w->shared[i][0]) / value : 0;
    out->high_factor = value ? tune_value(p, w->shared[i][1]) / value : 0;
    out->is_open = w->shared[i][0] <= 0 || w->shared[i][1] >= 1;
    out->partner = w->partner[i][0] >= 0 ? w->partner[i][0] : w->partner[i][1];
}

void tune_find_widths(struct search *s)
{
    const struct tune_problem *p = s->problem;
    double tolerance = p->tolerance ? p->tolerance
                                    : fmax(p->least_tolerance, p->tolerance_part * s->error);
    struct widths w = {.limit = s->error + tolerance};
    size_t count = s->problem->count;
    memcpy(w.best, s->best, sizeof w.best);
    s->most = s->result->evaluations + s->result->repeated;
    tune_in_threads(s, 2 * count, move_alone, &w);
    tune_in_threads(s, 2 * count, move_together, &w);
    for (size_t i = 0; i < count; i++)
        fill(s, &w, i, &s->result->widths[i]);
}
