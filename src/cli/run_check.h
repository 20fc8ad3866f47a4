/*
 * run_check.h - checks an `orrery run` before anything starts.
 */
#ifndef CLI_RUN_CHECK_H
#define CLI_RUN_CHECK_H

#include "cli/run_options.h"
#include "program/program.h"

/*
 * Makes the machine of the run, inspects the programs (run->job.apps), chooses their hosts, and
 * checks memory, settings and all files. `program` gets what is known about the one for this
 * process; the caller clears it before and finishes it after, on failure, too. Completes
 * run->job.opt, and stores the folder of the libraries in `libdir`.
 */
int cli_run_check(struct cli_run *run, struct program *program, char *libdir, size_t libdir_size,
                  struct err *);

#endif
