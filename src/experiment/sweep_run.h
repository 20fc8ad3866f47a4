/*
 * sweep_run.h - runs the points of a sweep, several at a time, each as a separate `orrery run`.
 */
#ifndef EXPERIMENT_SWEEP_RUN_H
#define EXPERIMENT_SWEEP_RUN_H

#include "experiment/sweep_grid.h"
#include "results/summary_read.h"

struct sweep_result {
    int done;        /* 0: not run, or interrupted */
    int status;      /* exit status of the run; 128 and the signal if it was killed */
    int has_summary; /* the following fields are valid */
    struct results_summary summary;
    char *why; /* the first message of a failed run, or NULL */
};

/* What to run. All borrowed. */
struct sweep_plan {
    const struct sweep_grid *grid;
    char *const *options; /* of every run, NULL at the end */
    char *const *program; /* with its arguments, NULL at the end */
    const char *keep;     /* folder for output and summary of each point, or NULL */
    size_t baseline;      /* the point that is started first */
    unsigned jobs;        /* at a time */
    int progress;         /* draw a line on standard error */
    /* Called when a point is done, in any order; the progress line has been erased. */
    void (*on_done)(void *context, size_t point);
    void *context;
};

/*
 * Runs all points; results, one per point and cleared, are filled in. Points that fail do not end
 * the sweep. An interrupt ends all runs: *signal is then its number, else 0. Fails only if runs
 * cannot be started at all.
 */
int sweep_run(const struct sweep_plan *, struct sweep_result *results, int *signal, struct err *);

void sweep_results_fini(struct sweep_result *, size_t count);

#endif
