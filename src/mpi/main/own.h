/*
 * own.h - the part of the simulator that Orrery's own MPI programs call (run/own.h).
 */
#ifndef MPI_MAIN_OWN_H
#define MPI_MAIN_OWN_H

/* The run has ended: programs that share memory complete what they have in it. */
void mpi_own_end(void);

#endif
