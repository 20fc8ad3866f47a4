/*
 * factor.h - the factor of an emulation: reading it, and finding it.
 */
#ifndef EXPERIMENT_FACTOR_H
#define EXPERIMENT_FACTOR_H

#include "launch/apps.h"

#define EXPERIMENT_FACTOR_DYNAMIC "dynamic"

/* Reads a number of at least 1, or "dynamic". */
int experiment_factor_parse(const char *text, double *factor, int *is_dynamic, struct err *);

/*
 * Runs programs with larger and larger factors until the results have converged, and stores the
 * smallest such factor as text. `words` are the command line of a run without its factor. Says what
 * it tries unless `quiet`; their output is discarded. If a run failed, was killed or was
 * interrupted, returns an error, and *status is the exit status of the command; else *status is 0.
 * ERR_INPUT: nothing converged.
 */
int experiment_factor_find(const struct launch_argv *words, const struct launch_apps *, int quiet,
                           char *factor, size_t size, int *status, struct err *);

#endif
