/*
 * result.h - what `orrery run` reports at the end: summary, JSON, exit status.
 */
#ifndef RESULTS_RESULT_H
#define RESULTS_RESULT_H

#include "base/buf.h"
#include "platform/lists.h"
#include "run/outcome.h"
#include "run/run.h"

/* If a signal ended the run and nobody could report it, does so: a message, unless ranks stand for
 * processes outside, and the result as far as it is known. */
void results_complete(struct run_page *, const struct run_outcome *);

/*
 * The exit status of the run. If the library did not report how it ended, prints the likely reason:
 * killed by a signal (3; 128 + signal after one that we passed on), or not taken over (2, 3).
 */
int results_status(const struct run_page *, const struct run_outcome *);

/* One of several programs of a run. */
struct results_program {
    char *const *words; /* the program and its arguments; NULL at the end */
    uint64_t ranks;
    uint32_t procs;
    int32_t host; /* enum run_host, and why */
    const char *host_reason;
};

/* Appends the summary, a few aligned lines for a person. The programs are opt.app_count. */
void results_text(const struct run_page *, const struct results_program *,
                  const struct run_outcome *, struct buf *out);

/* Appends the same as a JSON object; times in seconds, exact to the picosecond. */
void results_json(const struct run_page *, const struct results_program *,
                  const struct platform *machine, const struct run_outcome *, int exit_status,
                  struct buf *out);

#endif
