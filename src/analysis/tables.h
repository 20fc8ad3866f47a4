/*
 * tables.h - the result of an analysis as tables (table.h), for writing and comparing.
 */
#ifndef ANALYSIS_TABLES_H
#define ANALYSIS_TABLES_H

#include "analysis/analysis.h"
#include "analysis/table.h"

/* Adds tables for the groups that were analysed. */
void tables_from_analysis(struct tables *, const struct analysis *);

/* The tables of a file, which is a trace (that is analysed) or statistics as XML. *warning (code 0:
 * none) says what is missing from a trace. */
int tables_from_file(struct tables *, const char *path, unsigned groups, struct err *warning,
                     struct err *);

/* For people, at most 80 columns wide: the most important rows of each group. */
void tables_text(const struct analysis *, struct buf *out);

#endif
