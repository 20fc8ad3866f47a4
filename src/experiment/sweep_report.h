/*
 * sweep_report.h - the results of a sweep, as a table, CSV, JSON and a plot. Nothing here prints.
 */
#ifndef EXPERIMENT_SWEEP_REPORT_H
#define EXPERIMENT_SWEEP_REPORT_H

#include "experiment/sweep_run.h"

/* All borrowed. Points that are not done are omitted everywhere. */
struct sweep_report {
    const struct sweep_grid *grid;
    const struct sweep_result *results;
    size_t baseline;      /* the point that others are compared with */
    char *const *program; /* with its arguments, NULL at the end */
};

/* The line of titles, and the row of a point. Settings with one value have no column. */
void sweep_table_head(const struct sweep_report *, struct buf *out);
void sweep_table_row(const struct sweep_report *, size_t point, struct buf *out);

/* All settings that were given; numbers in seconds, bits per second and bytes. */
void sweep_csv(const struct sweep_report *, struct buf *out);
void sweep_json(const struct sweep_report *, struct buf *out);

/* Virtual time over a dimension, a line for each combination of the others, as SVG. */
void sweep_plot(const struct sweep_report *, size_t dim, struct buf *out);

#endif
