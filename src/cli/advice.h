/*
 * advice.h - what to do instead of an option that a command does not have.
 */
#ifndef CLI_ADVICE_H
#define CLI_ADVICE_H

#include "cli/options.h"

/* Replaces the message on an unknown option if it is one of mpiexec or srun, or one of another
 * command. */
void cli_advise(const struct cli_usage *, const char *option, struct err *);

#endif
