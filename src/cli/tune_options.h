/*
 * tune_options.h - the options of `orrery tune`, and the state of the command.
 */
#ifndef CLI_TUNE_OPTIONS_H
#define CLI_TUNE_OPTIONS_H

#include "cli/runs.h"
#include "experiment/tune_run.h"

struct cli_tune {
    struct cli_runs runs;
    const char *reference_path, *log_path, *output, *json;
    const char *platform; /* NULL: that of the runs */
    struct tables reference;
    struct tune_setting settings[TUNE_PARAMETERS_MAX];
    struct tune_parameter parameters[TUNE_PARAMETERS_MAX]; /* by setting */
    size_t count;
    char **fixed; /* settings with one value */
    size_t fixed_count;
    unsigned jobs, evaluations, groups; /* 0: not given */
    double tolerance;                   /* 0: derived from the least error */
    int quiet, drawn;
    int progress; /* 1 yes, 0 no, -1: if standard error is a terminal */
    struct tune_run run;
    atomic_int stop, is_done;
};

extern const struct cli_usage cli_tune_usage;

#endif
