/* Shared by the files that implement MPI calls on datatypes. */
#ifndef ORRERY_MPI_TYPE_API_H
#define ORRERY_MPI_TYPE_API_H

#include <mpi.h>

struct mpi_rank;

/* Raise MPI_ERR_TYPE for a handle that is null, unknown or freed. Returns what the call returns. */
int type_raise_handle(struct mpi_rank *self, MPI_Datatype handle);

/* Raise MPI_ERR_ARG for an argument that must not be NULL. Returns what the call returns. */
int type_raise_null(struct mpi_rank *self, const char *argument);

#endif
