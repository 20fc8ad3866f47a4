/*
 * watch.h - watches the program from outside: progress line, watchdog, signals.
 */
#ifndef LAUNCH_WATCH_H
#define LAUNCH_WATCH_H

#include <signal.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "launch/guard.h"
#include "launch/launch.h"
#include "run/outcome.h"

/* A second signal means to end at once, unless it comes so soon that it is a copy of the first:
 * timeout(1) and others signal the process and its group. */
#define LAUNCH_WATCH_AGAIN_S 0.5

/* Blocks the signals that launch_watch_wait takes; before the program is started. *old is the mask
 * for it. Signals ignored by our parent (nohup) stay ignored. */
void launch_watch_block(sigset_t *old);

/*
 * Waits until the process has ended. Meanwhile passes signals on (after a second one, or after some
 * time, kills the program), draws the progress line on stderr if `progress`, answers the program's
 * requests (launch/backtrace.h), and warns of a rank that runs without MPI calls or waits in a
 * system call, and of stopped processes. If the run was aborted and a rank keeps computing, tells
 * the program to end without it. Kills one of several processes if it is stopped or silent for
 * long: the others would wait for it for ever. Kills the program if `witness` (witness.h, or 0) was
 * killed, or a process of `launcher`, or its guard: it starts ranks on other computers, or is NULL.
 */
void launch_watch_wait(pid_t pid, struct launch_page *, const struct launch_guard *launcher,
                       pid_t witness, int progress, double start, struct run_outcome *);

/* After a run that a signal ended: the remaining output must be written within seconds, or the
 * process exits with the status of the signal, because the reader of our pipe may not read. */
void launch_watch_hurry(const struct run_outcome *);

/* Takes that back: there is work that may take longer (finish.h). */
void launch_watch_relax(void);

/* Drops those of the signals that are blocked and pending: copies of one that was taken. */
void launch_watch_drop(void);

/* From now on `take` handles the signals that launch_watch_block blocks; those that are pending are
 * dropped. *old is the mask before. */
void launch_watch_handle(void (*take)(int), sigset_t *old);
void launch_watch_unhandle(const sigset_t *old);

/* A descriptor that becomes readable with the signals that launch_watch_block blocked. */
int launch_watch_signals(void);
/* The next signal of it, or 0. */
int launch_watch_signal(int fd);

/* Host seconds of a monotonic clock; `start` above is its value before the start. */
double launch_watch_now(void);

/* The watchdog's state; all zero at the start. */
struct launch_watchdog {
    uint64_t seen;     /* progress counter when it last changed */
    double since, cpu; /* host time and processor time then */
    double warn_at;    /* seconds without change that bring the next warning */
};

/*
 * Call it regularly with host seconds, processor seconds of the program and a number that changes
 * with every MPI call. Returns the seconds without change when a warning is due: after 60 s of
 * which the program computed at least a tenth, and then each time the span doubles; else 0.
 */
double launch_watchdog_step(struct launch_watchdog *, double now, double cpu, uint64_t counter);

#endif
