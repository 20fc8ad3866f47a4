/*
 * profile.h - the first pass, which reads one rank after the other: traffic and times of ranks,
 * functions, phases between collectives, tests per request, overlap of communication with
 * computation. These need no other rank, so it holds one at a time.
 */
#ifndef ANALYSIS_PROFILE_H
#define ANALYSIS_PROFILE_H

#include "analysis/analysis.h"

/* Opens the trace itself, and fills in its groups; a->rank has room for all ranks. Names are
 * allocated in `a`, which must not be used by others meanwhile. */
int profile_run(struct analysis *a, const char *path, const struct analysis_options *,
                struct err *);

#endif
