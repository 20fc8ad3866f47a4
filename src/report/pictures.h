/*
 * pictures.h - the panels of a report as SVG pictures, for papers and slides.
 */
#ifndef REPORT_PICTURES_H
#define REPORT_PICTURES_H

#include "analysis/analysis.h"
#include "report/timeline.h"

/* Writes NAME.svg for each panel to a folder, which is created if necessary; with a number above 0
 * NAME-1.svg, so that two traces can share a folder. */
int pictures_write(const char *folder, size_t number, const struct analysis *, struct timeline *,
                   struct err *);

#endif
