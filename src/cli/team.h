/*
 * Several native processes: starting them, and being one of them.
 *
 *     orrery run --procs 4 ...                  checks everything, then starts the launcher
 *       mpiexec.mpich -n 4 orrery run --worker ...    four workers, each with
 *         the program                             its part of the simulation inside
 *
 * A worker is `orrery run` for one process: it starts the program, watches it, and reports. That of
 * process 0 draws the progress line and writes the summary.
 */
#ifndef CLI_TEAM_H
#define CLI_TEAM_H

#include "cli/books.h"
#include "cli/run_options.h"
#include "cli/watch.h"

#define CLI_TEAM_LAUNCHER "mpiexec.mpich"

/*
 * Starts `orrery run` with the same arguments as workers, by the launcher, and waits for their end.
 * Signals are passed on. What is left of the output is in the books. Nothing is left of them afterwards. Returns 0 with the exit status of the run; an
 * error if the launcher could not be started. If a signal ended the run before a worker could say so,
 * outcome->unreported is set.
 */
int cli_team_run(const struct cli_run *, int argc, char **argv, struct cli_books *,
                 struct run_outcome *, int *status, struct err *);

/* Fills in what the library needs to find its companions: the native MPI, the placement. */
int cli_team_prepare(struct cli_run *, struct err *);

/* In a worker: did its process not end by itself? Then 1, the reason is said unless somebody else does, and
 * the run is over with status 3. */
int cli_team_judge(const struct run_page *, const struct run_outcome *, pid_t pid);

/* In a worker, first of all: takes the standard streams of who started it, if that is on this machine. */
void cli_team_join(void);

/* In a worker: the file of the starter's in which the output of its process waits, and where; -1: there is
 * none. */
int cli_team_slot(off_t *at);
/* In a worker: lets the starter open this file, too, the rest of that output, as long as it is there. */
void cli_team_show_spill(int fd);

/* In the worker of process 0, or of one that failed: tells who started the workers how the run ended. */
void cli_team_tell(int status);

/* In a worker: a signal to it ended its process too early for a report. The starter ends the run as if it had
 * got the signal. */
void cli_team_interrupt(int sig);

/* In a worker that could report how the run ended: 1 if nobody else does. */
int cli_team_claim(void);

/* In a worker, last of all: what follows is no accident. */
void cli_team_leave(void);

#endif
