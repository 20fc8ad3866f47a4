/*
 * The trace of a run: its processes write parts (trace/part.h), which become one file when the run is over.
 */
#ifndef CLI_PARTS_H
#define CLI_PARTS_H

#include "run/run.h"

/* Merges the parts of a run that has ended with `status`, and removes them. Returns the status, or 2 after a failure
 * of its own that it reports. */
int cli_parts_merge(const struct run_options *, int status);

#endif
