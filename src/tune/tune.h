/*
 * tune.h - finds the values of parameters with the least error: a global search by several
 * searchers, then a local search from the best point of each, then a test of how well the values
 * are determined. The caller defines the parameters and the error.
 *
 * The result does not depend on how many evaluations run at a time. Every evaluation is logged
 * (log.h): a search that was interrupted repeats its steps from the log at no cost.
 */
#ifndef TUNE_TUNE_H
#define TUNE_TUNE_H

#include <stdatomic.h>
#include <stddef.h>

#include "base/err.h"
#include "tune/log.h"

#define TUNE_PARAMETERS_MAX 16

struct tune_parameter {
    double low, high; /* bounds; low < high */
    double start;     /* where to begin */
    int is_log;       /* equal factors count as equal steps; low > 0 */
    int is_whole;     /* only whole numbers */
};

struct tune_problem {
    const struct tune_parameter *parameters;
    size_t count;
    /* The error of these values; NAN: they do not work. Several threads may call it at a time. */
    double (*evaluate)(void *owner, const double *values);
    /* Called after an evaluation, or after finding one in the log; one call at a time. May be
     * NULL. */
    void (*progress)(void *owner, unsigned done, unsigned most, double least);
    void *owner;
    unsigned jobs;        /* evaluations at a time */
    unsigned evaluations; /* at most, in the search */
    /* Errors that differ by less than `tolerance` count as equal. If it is 0, that is this fraction
     * of the least error, but not less than least_tolerance. */
    double tolerance, tolerance_part, least_tolerance;
    atomic_int *stop; /* set: the search ends soon */
    struct tune_log *log;
};

/* How well a value is determined. */
struct tune_width {
    double low, high;  /* within the tolerance while the others stay fixed */
    double low_factor; /* factors of the value, if others may follow */
    double high_factor;
    int is_open; /* it may reach a bound: the error does not determine it */
    int partner; /* the parameter that compensates for it best; -1: none does */
};

struct tune_result {
    double values[TUNE_PARAMETERS_MAX];
    double error;
    struct tune_width widths[TUNE_PARAMETERS_MAX];
    unsigned evaluations; /* made, without those from the log */
    unsigned repeated;    /* found in the log */
    int is_stopped;
};

/* The search. ERR_INPUT if no values work. */
int tune_search(const struct tune_problem *, struct tune_result *, struct err *);

#endif
