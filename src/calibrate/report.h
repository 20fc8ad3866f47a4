/*
 * report.h - measurements compared with the model: text, picture, and whether the fit is good
 * enough.
 */
#ifndef CALIBRATE_REPORT_H
#define CALIBRATE_REPORT_H

#include "calibrate/machine.h"

/* Is a size, measured (a record of kind pingpong) and predicted in ns, good: within
 * CALIBRATE_TOLERANCE of the median or between the quartiles? */
#define CALIBRATE_TOLERANCE 0.10
#define CALIBRATE_GOOD_PART 0.90 /* fraction of good sizes from which the platform is good */

int calibrate_is_good(const struct calibrate_record *, double predicted);

/* Appends the report of a fit: clock, parameters with intervals, every size with its residual,
 * collectives. Lines of at most 100 columns. */
void calibrate_report_text(const struct calibrate_machine *, const struct calibrate_raw *,
                           struct buf *out);

/* Appends an SVG picture: measured and modelled half round trips, residuals, collectives
 * (all-to-all with its logarithmic fit). */
void calibrate_report_svg(const struct calibrate_machine *, const struct calibrate_raw *,
                          struct buf *out);

/*
 * Appends a table of the round trips that are both in `measured` and in `simulated`. *good and *all
 * are increased by the sizes compared. ERR_INPUT if there is none.
 */
int calibrate_verify(const struct calibrate_raw *measured, const struct calibrate_raw *simulated,
                     size_t *good, size_t *all, struct buf *out, struct err *);

#endif
