/*
 * tune_run.h - what `orrery tune` evaluates: a run of the program with some settings, whose trace
 * is compared with that of the reference.
 */
#ifndef EXPERIMENT_TUNE_RUN_H
#define EXPERIMENT_TUNE_RUN_H

#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>

#include "analysis/table.h"
#include "tune/tune.h"

struct tune_setting {
    const char *key;
    const char *unit; /* static: "s", "bit/s", "B" or "" */
};

struct tune_run {
    const struct tune_setting *settings;
    size_t count;
    char *const *options; /* of every run, NULL at the end */
    char *const *program; /* with its arguments, NULL at the end */
    /* The program is the replayer, whose processes write parts of the trace themselves: this makes
     * the trace of them, and returns an exit status. NULL: it is any other program. */
    int (*join)(const char *trace);
    const struct tables *reference;
    unsigned groups; /* to compare; bits by enum analysis_group */
    atomic_int *stop;
    sigset_t mask; /* of signals, for children */
    char self[PATH_MAX], folder[PATH_MAX - 64];
    atomic_uint next; /* number of the next run */
    pthread_mutex_t lock;
    char *why; /* the first failure, or NULL */
};

/* Creates a temporary folder. */
int tune_run_init(struct tune_run *, struct err *);
void tune_run_fini(struct tune_run *);

/* "key=value,..." of these values; the caller frees it. */
char *tune_run_text(const struct tune_run *, const double *values);

/* For struct tune_problem; the owner is a struct tune_run. */
double tune_run_evaluate(void *owner, const double *values);

/* tune_run_evaluate that also stores the error of each group (by enum analysis_group; NAN: it has
 * none). */
double tune_run_errors(struct tune_run *, const double *values, double *groups);

#endif
