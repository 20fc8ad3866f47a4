/*
 * tune_internal.h - what the parts of a search share.
 */
#ifndef TUNE_TUNE_INTERNAL_H
#define TUNE_TUNE_INTERNAL_H

#include <pthread.h>
#include <semaphore.h>

#include "tune/tune.h"

/* Points are given as positions between the bounds, from 0 to 1. */
struct search {
    const struct tune_problem *problem;
    struct tune_result *result;
    sem_t free; /* jobs that may start */
    pthread_mutex_t lock;
    double best[TUNE_PARAMETERS_MAX]; /* position of the least error so far */
    double error;                     /* the least error so far */
    unsigned most;                    /* evaluations that may still follow, for progress */
    struct err err;                   /* of the log */
};

#define TUNE_FAILED 1e6 /* the error of values that do not work */

/* The error at a position, from the log or evaluated. */
double tune_error_at(struct search *, const double *position);
int tune_is_stopped(const struct search *);
double tune_value(const struct tune_parameter *, double position);

/* Calls work(s, i, context) for i from 0 to count - 1, each in a thread of its own. */
void tune_in_threads(struct search *, size_t count,
                     void (*work)(struct search *, size_t i, void *context), void *context);

/* How well the values of the best position are determined. */
void tune_find_widths(struct search *);

#endif
