/*
 * Finds the values of parameters with the least error: a global search by several searchers side by
 * side, then a local one from what each has found, then a look at how well the values are
 * determined. What the parameters and the error are is for the caller to know.
 *
 * The result does not depend on how many evaluations run at a time. Every evaluation goes through a
 * log (log.h): a search that was interrupted repeats its steps from there at no cost.
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
    /* The error of these values, from several threads at a time; NAN: they do not work. */
    double (*evaluate)(void *owner, const double *values);
    /* Something was evaluated, or found in the log; one call at a time. May be NULL. */
    void (*progress)(void *owner, unsigned done, unsigned most, double least);
    void *owner;
    unsigned jobs;        /* evaluations at a time */
    unsigned evaluations; /* at most, in the search */
    double tolerance;     /* errors that differ by less are as good as each other; 0: ... */
    double tolerance_part,
        least_tolerance; /* ... this part of the least error, and at least so much */
    atomic_int *stop;    /* set: end soon */
    struct tune_log *log;
};

/* How well a value is determined. */
struct tune_width {
    double low, high;  /* within the tolerance while the others stay as they are */
    double low_factor; /* the same if the others may follow: value times these ... */
    double high_factor;
    int is_open; /* it may go up to a bound, that is: the error does not determine it */
    int partner; /* the parameter that makes up for it best; -1: none does */
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
