/*
 * sweep_range.h - lists of values and ranges of the dimensions of a sweep.
 */
#ifndef EXPERIMENT_SWEEP_RANGE_H
#define EXPERIMENT_SWEEP_RANGE_H

#include "experiment/sweep_grid.h"

/* Appends the values of an item, which is one value or a range, to a dimension. On failure some may
 * have been added. */
int sweep_range_add(struct sweep_dim *, const char *item, struct err *);

/* The text of a number with this unit ("s", "bit/s", "B" or ""), as a setting takes it. */
void sweep_number_text(double value, const char *unit, char *out, size_t size);

#endif
