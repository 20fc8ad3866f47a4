/*
 * tune_report.h - the result of `orrery tune`, as text and as JSON.
 */
#ifndef CLI_TUNE_REPORT_H
#define CLI_TUNE_REPORT_H

#include "base/buf.h"
#include "cli/tune_options.h"

/* The error of each group (by enum analysis_group; NAN: it has none), for which it runs the program
 * once more; all NAN if the search was interrupted. */
void cli_tune_errors(struct cli_tune *, const struct tune_result *, double *groups);

/* Appends the values that were found, how well they are determined, and the error of each group. */
void cli_tune_report(const struct cli_tune *, const struct tune_result *, const double *groups,
                     struct buf *);

/* Appends the same as a JSON object, with the exit status. */
void cli_tune_json(const struct cli_tune *, const struct tune_result *, const double *groups,
                   double wall_s, int status, struct buf *);

#endif
