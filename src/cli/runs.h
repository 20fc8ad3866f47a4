/*
 * runs.h - what `orrery sweep` and `orrery tune` share: both start many runs of a program, and
 * take the options of `orrery run` after the word "run".
 */
#ifndef CLI_RUNS_H
#define CLI_RUNS_H

#include "cli/run_options.h"

struct cli_runs {
    struct cli_run common; /* the options that all runs share */
    char **options;        /* these as words of a command line; NULL at the end */
    size_t option_count;
    char **program; /* with its arguments, and further programs after ':'; NULL at the end */
    struct launch_argv words; /* that of --app */
};

void cli_runs_init(struct cli_runs *);
void cli_runs_fini(struct cli_runs *);

/* Adds words to the options of all runs. They must live as long as the runs. */
void cli_runs_add(struct cli_runs *, char *const *words, size_t count);

/* Handles an option of `orrery run` itself. Returns 1, 0 if it is an option for all runs, or an
 * error. */
typedef int cli_runs_own(void *owner, const struct cli_option *option, const char *value,
                         struct err *);

/*
 * Reads a command line; argv[0] is "run". `own` (NULL: none) sees every option first. Options that
 * name a file to write are refused; `instead` says what to use instead (NULL: nothing). `example`
 * is a complete command, for errors. Returns 0, CLI_OPTIONS_HELP or an error.
 */
int cli_runs_read(struct cli_runs *, int argc, char **argv, cli_runs_own *own, void *owner,
                  const char *instead, const char *example, struct err *);

/* Prints the help of `orrery run`. Returns an exit status. */
int cli_runs_help(void);

/* Reads the value of --jobs. */
int cli_runs_parse_jobs(const char *value, unsigned *jobs, struct err *);

/* The number of runs at a time (experiment/runs.h). */
unsigned cli_runs_jobs(const struct cli_runs *, unsigned given, size_t most, int quiet);

#endif
