/*
 * runs.h - many runs of a program: how many at a time, and the command line of each.
 */
#ifndef EXPERIMENT_RUNS_H
#define EXPERIMENT_RUNS_H

#include <stddef.h>

/* What the runs have in common. */
struct experiment_runs {
    int is_measured; /* compute time is */
    unsigned procs;  /* of each; 0: it chooses that itself */
};

/*
 * The number of runs at a time, at most `most`: `given`, or if that is 0, as many as there are
 * cores for their processes; one if they measure compute time. Says so, and warns if a given
 * number disturbs measured times, unless `quiet`.
 */
unsigned experiment_runs_jobs(const struct experiment_runs *, unsigned given, size_t most,
                              int quiet);

/* The command line of one run by the program `self`: the options of all runs, `count` words of its
 * own, and the program. The caller frees the array, but not the words. */
char **experiment_runs_words(const char *self, char *const *options, char *const *own, size_t count,
                             char *const *program);

#endif
