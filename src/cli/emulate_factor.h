/*
 * emulate_factor.h - the factor of an emulation: reading it, and finding it.
 */
#ifndef CLI_EMULATE_FACTOR_H
#define CLI_EMULATE_FACTOR_H

#include "cli/argv.h"

#define CLI_EMULATE_DYNAMIC "dynamic"

/* Reads a number of at least 1, or "dynamic". */
int cli_emulate_parse(const char *text, double *factor, int *is_dynamic, struct err *);

/*
 * Runs a program with larger and larger factors until the results have converged, and stores the
 * smallest such factor as text. `words` are the command line of a run without its factor. Says what
 * it tries unless `quiet`; the program's output is discarded. ERR_INPUT: a run failed, or nothing
 * converged.
 */
int cli_emulate_find(const struct cli_argv *words, char **program, int quiet, char *factor,
                     size_t size, struct err *);

#endif
