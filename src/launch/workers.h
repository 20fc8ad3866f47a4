/*
 * workers.h - several native processes: starting them, and being one of them.
 *
 *     orrery run --procs 4 ...                  checks everything, then starts the launcher
 *       mpiexec.mpich -n 4 orrery run --worker ...    four workers, each with
 *         the program                             its part of the simulation inside
 *
 * A worker is `orrery run` for one process: it starts the program, watches it, and reports. That of
 * process 0 draws the progress line and writes the summary.
 */
#ifndef LAUNCH_WORKERS_H
#define LAUNCH_WORKERS_H

#include "launch/books.h"
#include "launch/job.h"
#include "launch/watch.h"

#define LAUNCH_WORKERS_LAUNCHER "mpiexec.mpich"

/*
 * Starts `orrery run` as workers with the same programs and options, argv[1] to argv[next - 1],
 * through the launcher, and waits for their end. Passes signals on. Pending output is in the books.
 * No process is left afterwards. Returns 0 with the exit status of the run, or an error if the
 * launcher could not be started. If a signal ended the run before a worker could report it, sets
 * outcome->unreported.
 */
int launch_workers_run(const struct launch_job *, int next, char **argv, struct launch_books *,
                       struct run_outcome *, int *status, struct err *);

/* With several programs: chooses how many processes each gets, and which of them this process
 * runs. */
int launch_workers_assign(struct launch_job *, struct err *);

/* Fills in what the library needs to find the other processes: the native MPI, the placement. */
int launch_workers_prepare(struct launch_job *, struct err *);

/* In a worker: did its process not end by itself? Then returns 1 and reports the reason, unless
 * another worker does; the run is over with status 3. */
int launch_worker_judge(const struct run_page *, const struct run_outcome *, pid_t pid);

/* In a worker, first of all: takes over the standard streams of the starter, if that is on this
 * machine. */
void launch_worker_join(void);

/* In a worker: the starter's file for the pending output of its process, and the offset; -1: there
 * is none. */
int launch_worker_slot(off_t *at);
/* In a worker: lets the starter open this file of older output, too, while the worker still
 * exists. */
void launch_worker_show_spill(int fd);

/* In the worker of process 0, or of one that failed: tells the starter how the run ended. */
void launch_worker_tell(int status);

/* In another worker: waits some seconds until process 0 has told that. */
void launch_worker_await_report(void);

/* In a worker: a signal ended its process too early for a report. The starter ends the run as if it
 * had received the signal itself. */
void launch_worker_interrupt(int sig);

/* In a worker that could report how the run ended: returns 1 if no other worker does. */
int launch_worker_claim(void);

/* In a worker, last of all: its end is intended. */
void launch_worker_leave(void);

#endif
