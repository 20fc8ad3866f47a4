/*
 * parts.h - the trace of a run: its processes write parts (trace/part.h), which are merged into one
 * file when the run has ended.
 */
#ifndef CLI_PARTS_H
#define CLI_PARTS_H

#include <stddef.h>

#include "launch/argv.h"
#include "launch/finish.h"
#include "run/run.h"

/* Merges the parts of a run that has ended with `status`, and removes them. Returns the status, or
 * if that is 0, that of a failure here, which it reports: 2, or 128 + the signal if the user has
 * abandoned it (finish.h). */
int cli_parts_merge(const struct run_options *, const struct launch_finish *, int status);

/* Merges parts of any names. `expected`: how many there should be; 0: not known. A NULL instead of
 * a struct launch_finish: signals are left alone. Returns 0, or the status of a failure. */
int cli_parts_join(const char *trace, char **names, size_t count, size_t expected,
                   const struct launch_finish *);

/* The parts of a trace that there are, in order of their numbers, or files beside them: those with
 * this suffix. The path is absolute. */
void cli_parts_find(const char *trace, const char *suffix, struct launch_argv *names);
/* An error if there are some, which would be taken for parts of the run to come. */
int cli_parts_check_none(const char *trace, struct err *);

#endif
