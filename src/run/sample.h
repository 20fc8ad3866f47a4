/*
 * sample.h - regions that are run a few times and then take the mean of these times (--sample), as
 * text:
 *
 *     REGION:RUNS,REGION:RUNS,...
 */
#ifndef RUN_SAMPLE_H
#define RUN_SAMPLE_H

#include <stdint.h>

#include "base/err.h"

#define RUN_SAMPLES_MAX 32
#define RUN_SAMPLE_RUNS_MAX 1000000000

struct run_sample {
    char name[64];
    uint64_t runs;
};

/* Reads the list; `samples` has room for RUN_SAMPLES_MAX and *count are there already. The names
 * may have colons, but no commas. */
int run_samples_read(const char *list, struct run_sample *samples, unsigned *count, struct err *);

#endif
