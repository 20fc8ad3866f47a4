/*
 * parts.h - the trace of a run: its processes write parts (trace/part.h), which are merged into one
 * file when the run has ended.
 */
#ifndef CLI_PARTS_H
#define CLI_PARTS_H

#include <stddef.h>

#include "cli/argv.h"
#include "run/run.h"

/* Merges the parts of a run that has ended with `status`, and removes them. Returns the status, or
 * 2 after a failure of its own that it reports. */
int cli_parts_merge(const struct run_options *, int status);

/* The same for parts of any names. `expected`: how many there should be; 0: not known. */
int cli_parts_join(const char *trace, char **names, size_t count, size_t expected);

/* The parts of a trace that there are, in order of their numbers, or files beside them: those with
 * this suffix. The path is absolute. */
void cli_parts_find(const char *trace, const char *suffix, struct cli_argv *names);
/* An error if there are some, which would be taken for parts of the run to come. */
int cli_parts_check_none(const char *trace, struct err *);

#endif
