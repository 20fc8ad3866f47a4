/*
 * team.h - several native processes: starting them, and being one of them.
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
 * Starts `orrery run` as workers with the same programs and options, argv[1] to argv[next - 1],
 * through the launcher, and waits for their end. Passes signals on. Pending output is in the books.
 * No process is left afterwards. Returns 0 with the exit status of the run, or an error if the
 * launcher could not be started. If a signal ended the run before a worker could report it, sets
 * outcome->unreported.
 */
int cli_team_run(const struct cli_run *, int next, char **argv, struct cli_books *,
                 struct run_outcome *, int *status, struct err *);

/* With several programs: chooses how many processes each gets, and which of them this process
 * runs. */
int cli_team_assign(struct cli_run *, struct err *);

/* Fills in what the library needs to find the other processes: the native MPI, the placement. */
int cli_team_prepare(struct cli_run *, struct err *);

/* In a worker: did its process not end by itself? Then returns 1 and reports the reason, unless
 * another worker does; the run is over with status 3. */
int cli_team_judge(const struct run_page *, const struct run_outcome *, pid_t pid);

/* In a worker, first of all: takes over the standard streams of the starter, if that is on this
 * machine. */
void cli_team_join(void);

/* In a worker: the starter's file for the pending output of its process, and the offset; -1: there
 * is none. */
int cli_team_slot(off_t *at);
/* In a worker: lets the starter open this file of older output, too, while the worker still
 * exists. */
void cli_team_show_spill(int fd);

/* In the worker of process 0, or of one that failed: tells the starter how the run ended. */
void cli_team_tell(int status);

/* In another worker: waits some seconds until process 0 has told that. */
void cli_team_await_report(void);

/* In a worker: a signal ended its process too early for a report. The starter ends the run as if it
 * had received the signal itself. */
void cli_team_interrupt(int sig);

/* In a worker that could report how the run ended: returns 1 if no other worker does. */
int cli_team_claim(void);

/* In a worker, last of all: its end is intended. */
void cli_team_leave(void);

#endif
