/*
 * errhandler.h - error handlers of communicators, and codes of errors.
 */
#ifndef MPI_COMM_ERRHANDLER_H
#define MPI_COMM_ERRHANDLER_H

#include "mpi/comm/comm.h"

/* ---- errhandler.c ---- */

/* The handler of errors on c: the one that was set, else that of MPI_COMM_WORLD, else fatal. */
MPI_Errhandler mpi_errhandler_of(const struct mpi_rank *, const struct mpi_comm *);
/* The handler that the rank has set for c, which communicators created from c inherit;
 * MPI_ERRHANDLER_NULL: none. */
MPI_Errhandler mpi_errhandler_given(const struct mpi_rank *, const struct mpi_comm *);
/* Sets it for this rank only. */
void mpi_errhandler_set_for(struct mpi_rank *, const struct mpi_comm *, MPI_Errhandler);
/* Drops the rank's handler of a communicator that it has freed. */
void mpi_errhandler_forget(struct mpi_rank *, MPI_Comm);

/* ---- error_codes.c ---- */

/* The address, which stays valid, of the last error code the rank uses (MPI_LASTUSEDCODE). */
int *mpi_errcode_last(const struct mpi_rank *);
/* "MPI_ERR_RANK". */
const char *mpi_errcode_name(int code);

#endif
