/*
 * session.h - which rank may use MPI: between MPI_Init and MPI_Finalize, or while it has a session.
 *
 * mpi_rank.phase says whether calls are allowed. For a rank without sessions, MPI_Initialized and
 * MPI_Finalized report the same; while it has sessions, their state is kept separately.
 */
#ifndef MPI_MAIN_SESSION_H
#define MPI_MAIN_SESSION_H

#include "mpi/rank.h"

/* The rank's state with regard to MPI_Init and MPI_Finalize, apart from sessions; sets it. */
enum mpi_phase mpi_world_phase(const struct mpi_rank *self);
void mpi_world_phase_set(struct mpi_rank *self, enum mpi_phase phase);

/* Completes what others still wait for before the rank stops using MPI (init_api.c). May switch. */
void mpi_finish_sends(struct mpi_rank *self);

#endif
