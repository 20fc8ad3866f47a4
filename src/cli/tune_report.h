/*
 * tune_report.h - the result of `orrery tune` as text.
 */
#ifndef CLI_TUNE_REPORT_H
#define CLI_TUNE_REPORT_H

#include "base/buf.h"
#include "cli/tune_options.h"

/* Appends the values that were found, how well they are determined, and the error of each group;
 * for the last it runs the program once more, unless the search was interrupted. */
void cli_tune_report(struct cli_tune *, const struct tune_result *, struct buf *);

#endif
