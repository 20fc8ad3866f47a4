/*
 * causes.h - what ranks waited for, and why. This is the second pass, which reads all ranks
 * concurrently, in order of time. It matches messages with receives, and the calls of a collective
 * with each other, and derives wait states, the critical path, delays, traffic between pairs, and
 * the time on an ideal network.
 *
 * Calls are processed in order of their start. At that time the whole call is known, and so is what
 * the rank waits for in it: always the start of a call of another rank (a send, the posting of a
 * receive, the entry into a collective). So each wait state is found when its cause is processed,
 * with both ranks in the state they had at that time.
 *
 * At equal times, ranks that still wait for something are processed last, so that a message may
 * arrive in no time.
 */
#ifndef ANALYSIS_CAUSES_H
#define ANALYSIS_CAUSES_H

#include "analysis/analysis.h"

struct causes;

/* Opens the trace itself, and does everything but writing the result; NULL with an error. */
struct causes *causes_run(const char *path, const struct analysis_options *, struct err *);
/* Moves the result to `a`, which has the result of the first pass, and frees the pass. */
void causes_result(struct causes *, struct analysis *a);

#endif
