/*
 * clock.h - a rank's clock and the processor model that moves it between MPI calls.
 */
#ifndef MPI_CLOCK_H
#define MPI_CLOCK_H

#include "mpi/error.h"
#include "mpi/rank.h"
#include "run/run.h"

/* Sets up the processor model; measures the host's tick rate if it is needed. */
void mpi_clock_init(const struct run_options *);

/* Chooses the processor model and sets its fields in mpi_world (compute.c). */
void mpi_compute_init(void);

/* A rank's process begins: the time it has run so far does not count for the rank. */
void mpi_clock_watch(void);

/* Called around non-MPI functions that a program calls: charges its time so far; begins its next
 * slice. */
void mpi_clock_begin(struct mpi_rank *);
void mpi_clock_end(void);

/* The program reads a clock: charges its time so far and the cost of reading, which grows when the
 * program does nothing else for long. */
vtime mpi_clock_read(struct mpi_rank *);
/* If mpi_world.paced: the clock, if the rank can read it without the turn, else 0. */
vtime mpi_clock_peek(const struct mpi_rank *);
/* How often in a row the running rank has done so; MPI calls reset it to 0. */
extern uint32_t mpi_clock_readings;

/* The program sleeps. */
void mpi_clock_spend(struct mpi_rank *, vtime dt);

/* Lets ranks with earlier clocks go first (may switch): p2p/yield.c. */
void mpi_clock_yield(struct mpi_rank *);

/* Half of all program time was spent in slices (host time between two MPI calls) at least this
 * long, in seconds and to a factor of two; 0 if not measured. */
double mpi_clock_median_slice(void);

/* Host seconds in slices of all ranks here: time run, and time left out because the rank had no
 * processor; 0 if not measured. */
double mpi_clock_computed(void);
double mpi_clock_left_out(void);

#endif
