/*
 * apps_read.h - reads the programs of a run (launch/apps.h) from a command line, as in
 *
 *     orrery run -n 4 ./ocean coarse : -n 8 ./atmosphere
 *
 * or from a file (--app) with a line for each.
 */
#ifndef CLI_APPS_READ_H
#define CLI_APPS_READ_H

#include <stdint.h>

#include "base/err.h"
#include "launch/apps.h"

/*
 * Reads programs from words, which follow the options of `command`, or from `file` (NULL: none).
 * `ranks` is the -n among the options, 0 if there was none; each further program has its own.
 * `most` limits the ranks of all. Finish with launch_apps_fini on failure, too.
 */
int cli_apps_read(struct launch_apps *, const char *command, const char *file, uint64_t ranks,
                  uint64_t most, int argc, char **argv, struct err *);

#endif
