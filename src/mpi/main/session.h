/*
 * session.h - which rank may use MPI: between MPI_Init and MPI_Finalize, or while it has a session.
 *
 * mpi_rank.phase says whether calls are allowed. What MPI_Initialized and MPI_Finalized tell is the
 * same for a rank without sessions; while it has some it is kept beside them.
 */
#ifndef MPI_MAIN_SESSION_H
#define MPI_MAIN_SESSION_H

#include "mpi/rank.h"

/* Where the rank stands between MPI_Init and MPI_Finalize, sessions or not; and a new state of it. */
enum mpi_phase mpi_world_phase(const struct mpi_rank *self);
void mpi_world_phase_set(struct mpi_rank *self, enum mpi_phase phase);

/* Serves what others still wait for before the rank stops using MPI (init_api.c). May switch. */
void mpi_settle(struct mpi_rank *self);

#endif
