/*
 * The log of a search: what was evaluated, in a file from which a later search goes on, or in
 * memory alone.
 *
 *     # orrery tune: <what was searched, in one line>
 *     1.25e-06 1e+10 0.0317
 *
 * Values are rounded to six digits before they are used, so that they are the same when they are
 * read again. May be used from several threads.
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
    int fd; /* -1: in memory alone */
    char *path;
    pthread_mutex_t lock;
};

/* Path may be NULL. A file of another search is ERR_INPUT; one whose last line is not whole loses
 * that line. */
int tune_log_open(struct tune_log *, const char *path, const char *about, size_t count,
                  struct err *);
void tune_log_close(struct tune_log *);

double tune_round(double value);
/* 1 with the error if the values are there. */
int tune_log_find(struct tune_log *, const double *values, double *error);
/* ERR_SYSTEM if it cannot be written; it is in memory all the same. */
int tune_log_add(struct tune_log *, const double *values, double error, struct err *);

#endif
