/*
 * log.h - the log of a search: all evaluations, in a file from which a later search continues, or
 * only in memory.
 *
 *     # orrery tune: <what was searched, in one line>
 *     1.25e-06 1e+10 0.0317
 *
 * Values are rounded to six digits before they are used, so that reading them again gives the same
 * ones. Several threads may use a log.
 */
#ifndef TUNE_LOG_H
#define TUNE_LOG_H

#include <pthread.h>
#include <stddef.h>

#include "base/err.h"

struct tune_entry {
    double *values;
    double error;
};

struct tune_log {
    size_t count; /* of values in an entry */
    struct tune_entry *entries;
    size_t entry_count;
    int fd; /* -1: only in memory */
    char *path;
    pthread_mutex_t lock;
};

/* The path may be NULL. ERR_INPUT if the file belongs to another search. An incomplete last line is
 * dropped. */
int tune_log_open(struct tune_log *, const char *path, const char *about, size_t count,
                  struct err *);
void tune_log_close(struct tune_log *);

double tune_round(double value);
/* Returns 1 with the error if these values were evaluated. */
int tune_log_find(struct tune_log *, const double *values, double *error);
/* ERR_SYSTEM if it cannot be written; memory has it nevertheless. */
int tune_log_add(struct tune_log *, const double *values, double error, struct err *);

#endif
