/*
 * The first pass: one rank after the other. Traffic and times of ranks, functions, phases of
 * collectives, tests per request, overlap of communication with computation. Needs no other rank,
 * so it holds one at a time.
 */
#ifndef ANALYSIS_PROFILE_H
#define ANALYSIS_PROFILE_H

#include "analysis/analysis.h"

/* Opens the trace for itself. Fills the groups that it is for; a->rank has room for all ranks.
 * Memory of names comes from `a`, which nobody else may use meanwhile. */
int profile_run(struct analysis *a, const char *path, const struct analysis_options *,
                struct err *);

#endif
