/*
 * The second pass: all ranks side by side, in order of time. Messages are matched with receives,
 * and calls of collectives with each other; from that follow wait states, the critical path,
 * delays, traffic between pairs, and the time on an ideal network.
 *
 * Calls are taken in order of their start. At that moment a call is known as a whole, so what a
 * rank waits for in it is known, too; and whatever a rank waits for is the start of a call of
 * another rank: a send, the posting of a receive, the entry into a collective. So each wait state
 * is found when its cause is met, while both ranks are where they were then.
 *
 * Equal times: a rank that still waits for something is taken after others, so that a message may
 * arrive in no time.
 */
#ifndef ANALYSIS_REPLAY_H
#define ANALYSIS_REPLAY_H

#include "analysis/analysis.h"

struct replay;

/* Opens the trace for itself, and does all but writing the result; NULL with an error. */
struct replay *replay_run(const char *path, const struct analysis_options *, struct err *);
/* Moves the result to `a`, which has that of the first pass, and frees the replay. */
void replay_result(struct replay *, struct analysis *a);

#endif
