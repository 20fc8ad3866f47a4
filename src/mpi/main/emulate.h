/*
 * emulate.h - `orrery emulate`: ranks are processes that run at the same time, and simulated time
 * passes in proportion to real time (emulate/pace.h).
 *
 * Outside of calls a rank's process runs without the turn: for the engine the rank is away. The
 * process does not touch the simulator until it makes a call. Then it has computed for some time c;
 * it sleeps until the moment of its clock + c, and waits for the turn. When a call returns, it
 * passes the turn on, and sleeps until the moment of its clock. In between, messages that must be
 * answered at once are handled by the rank's helper, a thread of its process.
 *
 * A process may be on another computer (vp/remote.h): then it has a clock of its own
 * (emulate/remote_clock.h).
 */
#ifndef MPI_MAIN_EMULATE_H
#define MPI_MAIN_EMULATE_H

#include "mpi/rank.h"

/* The network is there, the engine is not. */
void mpi_emulate_init(const struct run_options *);

/* The rank's process is about to run the program: until here it has the turn. */
void mpi_emulate_started(void);
void mpi_emulate_running(void);

/* mpi_thread_enter and mpi_thread_leave. */
void mpi_emulate_enter(void);
void mpi_emulate_leave(int quiet);

/* mpi_above.peek: a program that reads the clock in a loop must not keep the simulator busy. */
vtime mpi_emulate_peek(const struct mpi_rank *);

/* Hooks of vp for processes on other computers. */
void mpi_emulate_serve_clock(int fd);
void mpi_emulate_follow_clock(int fd);
void mpi_emulate_alone(int begins);

/* engine_ops.pace */
vtime mpi_emulate_pace(void *owner, vtime next);

/* Fills in what was measured. */
void mpi_emulate_result(struct run_page *);

#endif
