/*
 * run_files.h - the files that a run gets when it has ended: its trace, and the page of it.
 */
#ifndef CLI_RUN_FILES_H
#define CLI_RUN_FILES_H

#include "cli/run_options.h"

/* Writes them, also of a run that failed, as far as it came. `signal`: what ended the run, or 0.
 * Returns the run's status, or if that is 0, the status of a failure here, which it reports. */
int cli_run_files(const struct cli_run *, int signal, int status);

#endif
