/*
 * panels.h - what the panels of a report show, as JSON with chunks (web/README.md describes both).
 */
#ifndef REPORT_PANELS_H
#define REPORT_PANELS_H

#include "analysis/analysis.h"
#include "base/json.h"
#include "report/chunk.h"
#include "report/timeline.h"

/* Tables are shown up to this size; larger ones are merged. */
#define PANELS_MATRIX_MOST 512
#define PANELS_PHASE_ROWS 512
#define PANELS_PHASE_COLUMNS 1024
#define PANELS_PLACES 40
#define PANELS_PHASES 8 /* communicators */

/* A matrix with that many rows and columns, each for `width` ranks. */
struct panels_matrix {
    uint64_t size, width;
    double *bytes, *messages, *time;
};
void panels_matrix_init(struct panels_matrix *, const struct analysis *);
void panels_matrix_fini(struct panels_matrix *);

/* Times of phases as a table with the mean of each cell, NAN if it is empty. The caller frees
 * it. */
struct panels_phases {
    uint64_t rows, columns, row_width, column_width;
    double *times;
};
void panels_phases_init(struct panels_phases *, const struct analysis_phases *);
void panels_phases_fini(struct panels_phases *);

/* Writes all members of a trace's object except "timeline". */
void panels_write(const struct analysis *, const struct timeline *, struct chunks *, struct json *);

#endif
