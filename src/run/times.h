/*
 * times.h - tables of times, given as text files.
 *
 *     name seconds      times of regions            (orrery run --compute table FILE)
 *     count seconds     times by a counter's value  (orrery run --compute counters FILE)
 *
 * One entry per line, separated by spaces, tabs or a comma; seconds with or without a unit (1.5us);
 * '#' begins a comment. A name with spaces is in double quotes.
 */
#ifndef RUN_TIMES_H
#define RUN_TIMES_H

#include <stddef.h>

#include "base/err.h"

enum run_times_kind { RUN_TIMES_NAMES, RUN_TIMES_COUNTS };

struct run_time {
    char *name;   /* RUN_TIMES_NAMES */
    double count; /* RUN_TIMES_COUNTS */
    double seconds;
};

struct run_times {
    struct run_time *entries; /* by name, or by count; each once */
    size_t count;
};

/* Reads a file; errors name file, line and what was expected. Uses raw system calls: any
 * context. */
int run_times_read(struct run_times *, const char *path, enum run_times_kind, struct err *);
void run_times_fini(struct run_times *);

/* The entry of a name, or NULL. */
const struct run_time *run_times_find(const struct run_times *, const char *name);

/* Seconds for a count: linear between entries, and from 0 to the first; beyond the last, in
 * proportion to it. */
double run_times_at(const struct run_times *, double count);

#endif
