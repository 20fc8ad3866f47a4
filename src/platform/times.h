/*
 * times.h - tables of times from elsewhere, as text files.
 *
 *     name seconds      times of regions            (orrery run --compute table FILE)
 *     count seconds     times by a counter's value  (orrery run --compute counters FILE)
 *
 * One entry per line, separated by spaces, tabs or a comma; seconds bare or with a unit (1.5us); '#'
 * begins a comment. A name with spaces stands in double quotes.
 */
#ifndef PLATFORM_TIMES_H
#define PLATFORM_TIMES_H

#include <stddef.h>

#include "base/err.h"

enum platform_times_kind { PLATFORM_TIMES_NAMES, PLATFORM_TIMES_COUNTS };

struct platform_time {
    char *name;     /* PLATFORM_TIMES_NAMES */
    double count;   /* PLATFORM_TIMES_COUNTS */
    double seconds;
};

struct platform_times {
    struct platform_time *entries; /* by name, or by count; each once */
    size_t count;
};

/* Reads a file; errors name file, line and what was expected. Uses raw system calls: any context. */
int platform_times_read(struct platform_times *, const char *path, enum platform_times_kind,
                        struct err *);
void platform_times_fini(struct platform_times *);

/* The entry of a name, or NULL. */
const struct platform_time *platform_times_find(const struct platform_times *, const char *name);

/* Seconds for a count: linear between entries, and from 0 to the first; beyond the last, in
 * proportion to it. */
double platform_times_at(const struct platform_times *, double count);

#endif
