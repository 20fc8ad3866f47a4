/*
 * What a struct analysis points to: freed with it.
 */
#ifndef ANALYSIS_MEMORY_H
#define ANALYSIS_MEMORY_H

#include "analysis/analysis.h"

/* Uninitialised memory. */
void *analysis_keep(struct analysis *, size_t bytes);
const char *analysis_keep_text(struct analysis *, const char *text);

#endif
