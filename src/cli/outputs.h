/*
 * outputs.h - checks the files that a command will write, before the work and not after it.
 */
#ifndef CLI_OUTPUTS_H
#define CLI_OUTPUTS_H

#include <stddef.h>

#include "base/err.h"

struct cli_output {
    const char *option; /* as the user gave it, for messages: "--json" */
    const char *path;   /* NULL: not given; "-": standard output */
};

/* Can all of them be written, each to a different file? */
int cli_outputs_check(const struct cli_output *, size_t count, struct err *);

/* Can a trace have this name? Only a regular file can. NULL is accepted. */
int cli_outputs_check_trace(const char *option, const char *path, struct err *);

/* Is it a name for an SVG picture? Names with another suffix are not, since only SVG can be drawn.
 * NULL is accepted. */
int cli_outputs_check_svg(const char *option, const char *path, struct err *);

/* Is the path standard output? It may be NULL. */
int cli_is_stdout(const char *path);

#endif
