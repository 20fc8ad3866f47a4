/*
 * sample.h - regions that are run a few times and then take their mean (--sample), as text:
 *
 *     REGION:RUNS,REGION:RUNS,...
 */
#ifndef PLATFORM_SAMPLE_H
#define PLATFORM_SAMPLE_H

#include <stdint.h>

#include "base/err.h"

#define PLATFORM_SAMPLES_MAX 32
#define PLATFORM_SAMPLE_RUNS_MAX 1000000000

struct platform_sample {
    char name[64];
    uint64_t runs;
};

/* Reads the list; `samples` has room for PLATFORM_SAMPLES_MAX and *count are there already. The names may
 * have colons, but no commas. */
int platform_samples_read(const char *list, struct platform_sample *samples, unsigned *count,
                          struct err *);

#endif
