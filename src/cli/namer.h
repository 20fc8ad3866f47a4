/*
 * namer.h - names for the addresses that recorders write (trace/merge.h): functions, and for call
 * sites files and lines.
 */
#ifndef CLI_NAMER_H
#define CLI_NAMER_H

#include "trace/merge.h"

struct cli_namer {
    struct trace_namer namer; /* first */
    struct cli_namer_file *files;
    size_t count;
};

void cli_namer_init(struct cli_namer *);
void cli_namer_fini(struct cli_namer *);

#endif
