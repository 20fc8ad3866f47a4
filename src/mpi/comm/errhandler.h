/*
 * errhandler.h - error handlers of communicators, and codes of errors.
 */
#ifndef MPI_COMM_ERRHANDLER_H
#define MPI_COMM_ERRHANDLER_H

#include "mpi/comm/comm.h"

/* ---- errhandler.c ---- */

/* The handler that errors on c go to: what is given, else that of MPI_COMM_WORLD, else fatal. */
MPI_Errhandler mpi_errhandler_of(const struct mpi_rank *, const struct mpi_comm *);
/* The handler that the rank has been given for c, to be inherited by what is made of c;
 * MPI_ERRHANDLER_NULL: none. */
MPI_Errhandler mpi_errhandler_given(const struct mpi_rank *, const struct mpi_comm *);
/* Sets it for this rank alone. */
void mpi_errhandler_set_for(struct mpi_rank *, const struct mpi_comm *, MPI_Errhandler);
/* Forgets what the rank set for itself on a communicator that it has freed. */
void mpi_errhandler_forget(struct mpi_rank *, MPI_Comm);

/* ---- error_codes.c ---- */

/* The last error code the rank uses (MPI_LASTUSEDCODE), as a place in memory that stays. */
int *mpi_errcode_last(const struct mpi_rank *);
/* "MPI_ERR_RANK". */
const char *mpi_errcode_name(int code);

#endif
