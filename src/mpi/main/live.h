/*
 * live.h - ranks that stand for processes outside: `orrery hybrid` runs the program natively, and
 * its processes send what they do to the simulator (hybrid/wire.h), where one of Orrery's own
 * programs does it in virtual time, with a rank for each process (run/own.h).
 *
 * The processes and the simulators are one job of the native MPI: rank r of the program is process
 * r of the link, the simulators are those behind them. Each simulator has some of the ranks, as
 * with --procs, and the processes of these send to it.
 */
#ifndef MPI_MAIN_LIVE_H
#define MPI_MAIN_LIVE_H

#include "engine/proc_link.h"
#include "run/run.h"

/* Joins the processes. Ends the run if that fails. Returns the link to other simulators. */
struct proc_link mpi_live_open(const struct run_options *);
/* Whether there are processes outside. */
int mpi_live_is_open(void);
/* For procs.h: all processes have been in calls for long. */
uint64_t mpi_live_is_stuck(void *owner, uint64_t serial);
/* Does a process wait for an answer? All others go on without the simulator. */
int mpi_live_asks(void *owner);
/* Answers the processes that need not wait. */
void mpi_live_let_go(void);
struct run_live mpi_live_counts(void);
/* All ranks have ended: waits until the processes have, too. */
void mpi_live_close(void);

/* For the engine's operations: takes what has arrived, and wakes the ranks that wait for it;
 * returns whether there was one. Scheduler context. */
int mpi_live_wanted(void);
void mpi_live_await(void);

#endif
