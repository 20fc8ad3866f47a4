/* type_api.h - shared by the files that implement MPI calls on datatypes. */
#ifndef ORRERY_MPI_TYPE_API_H
#define ORRERY_MPI_TYPE_API_H

#include "mpi_abi.h"

struct mpi_rank;
struct mpi_type;

/* Raise MPI_ERR_TYPE for a handle that is null, unknown or freed. Returns what the call returns. */
int type_raise_handle(struct mpi_rank *self, MPI_Datatype handle);
/* type_raise_handle in a call with a communicator, whose error handler is used. */
int type_raise_handle_on(struct mpi_rank *self, MPI_Comm comm, MPI_Datatype handle);

/* Hand the outcome of a constructor to the user: a handle, or the error of class rc raised. */
int type_deliver(struct mpi_rank *self, int rc, struct mpi_type *made, MPI_Datatype *newtype);

/* Common check of constructors from one old type: stores it (borrowed) and returns MPI_SUCCESS. */
int type_check_make(struct mpi_rank *self, MPI_Datatype oldtype, struct mpi_type **old);

#endif
