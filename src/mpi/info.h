/*
 * info.h - info objects and hints inside the virtual MPI.
 *
 * Nothing here raises errors or switches.
 */
#ifndef MPI_INFO_H
#define MPI_INFO_H

#include <stddef.h>
#include <stdint.h>

#include "mpi_abi.h"

struct mpi_rank;

/* Creates an empty object, owned by the caller or handed to the program; sets a pair in an object;
 * frees an object. */
MPI_Info mpi_info_make(void);
void mpi_info_put(MPI_Info info, const char *key, const char *value);
void mpi_info_drop(MPI_Info info);
/* Value of a key in an info object (borrowed), or NULL. */
const char *mpi_info_lookup(MPI_Info, const char *key);
/* Is it an info object? */
int mpi_info_exists(MPI_Info info);

/* Copies the hints of an info object that communicators know to a new object, owned by the caller
 * (MPI_INFO_NULL: there are none); gives them to a new communicator of the rank, which takes
 * ownership. */
MPI_Info mpi_comm_hints_take(MPI_Info given);
void mpi_comm_hints_give(struct mpi_rank *self, MPI_Comm comm, MPI_Info hints);
/* The rank frees the communicator. */
void mpi_comm_hints_forget(struct mpi_rank *self, MPI_Comm comm);

#endif
