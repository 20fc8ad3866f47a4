/*
 * finish.h - the work after a run: merging its trace, writing its page.
 *
 * It may take long, and neither the signal that ended the run nor one that comes now may lose what
 * was recorded. The first signal is noted, and the work goes on. Only another one abandons it,
 * unless that comes so soon that it is a copy of the first (LAUNCH_WATCH_AGAIN_S).
 */
#ifndef LAUNCH_FINISH_H
#define LAUNCH_FINISH_H

#include <stdint.h>

struct launch_finish {
    int signal;   /* SIGINT, SIGTERM or SIGHUP that has ended the run, or 0 */
    int progress; /* draw on stderr how much is done */
    int quiet;    /* no notes */
};

/*
 * Begins work. `what` describes it, and what another signal does, for the note. `last_words`: if
 * the work cannot ask launch_finish_is_over, the message with which another signal ends the
 * process; else NULL. Single-threaded commands only. End it by launch_finish_end.
 */
void launch_finish_begin(const struct launch_finish *, const char *what, const char *last_words);

/* Whether to abandon the work, as a second signal has come. Also draws the progress. */
int launch_finish_is_over(uint64_t done, uint64_t all);

/* Ends it. Returns the first signal, if another one has abandoned the work; else 0. */
int launch_finish_end(void);

#endif
