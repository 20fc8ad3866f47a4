/*
 * panels.h - what the panels of a report show, as JSON with chunks (web/README.md describes both).
 */
#ifndef WEBREPORT_PANELS_H
#define WEBREPORT_PANELS_H

#include "analysis/analysis.h"
#include "base/json.h"
#include "webreport/chunk.h"
#include "webreport/timeline.h"

/* Tables are shown this large; what is larger is put together. */
#define PANELS_MATRIX_MOST 512
#define PANELS_PHASE_ROWS 512
#define PANELS_PHASE_COLUMNS 1024
#define PANELS_PLACES 40
#define PANELS_PHASES 8 /* communicators */

/* A matrix of so many rows and columns, each for `width` ranks. */
struct panels_matrix {
    uint64_t size, width;
    double *bytes, *messages, *time;
};
void panels_matrix_init(struct panels_matrix *, const struct analysis *);
void panels_matrix_fini(struct panels_matrix *);

/* Times of phases as a table: the mean of what is in a cell; NAN if nothing is. Free the result. */
struct panels_phases {
    uint64_t rows, columns, row_width, column_width;
    double *times;
};
void panels_phases_init(struct panels_phases *, const struct analysis_phases *);
void panels_phases_fini(struct panels_phases *);

/* Writes all members of the object of a trace but "timeline". */
void panels_write(const struct analysis *, const struct timeline *, struct chunks *, struct json *);

#endif
