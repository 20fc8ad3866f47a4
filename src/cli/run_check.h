/*
 * run_check.h - checks an `orrery run` before anything starts.
 */
#ifndef CLI_RUN_CHECK_H
#define CLI_RUN_CHECK_H

#include "cli/run_options.h"
#include "program/program.h"

/*
 * Makes the machine of the run, inspects the program `given` into `program` (which the caller
 * clears before and finishes after, on failure, too), chooses its host, and checks memory,
 * settings and all files. Completes run->opt, and stores the folder of the libraries in `libdir`.
 */
int cli_run_check(struct cli_run *run, const char *given, struct program *program, char *libdir,
                  size_t libdir_size, struct err *);

#endif
