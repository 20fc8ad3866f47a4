/*
 * attr.h - attributes that programs cache on communicators, datatypes and windows (MPI-4.0 7.7).
 *
 * They belong to (rank, object) and cost nothing for ranks that set none. The handles of the three
 * kinds differ, so a handle identifies its kind. The program's functions are called and may call
 * MPI: everything here may switch.
 */
#ifndef MPI_ATTR_H
#define MPI_ATTR_H

#include "mpi_abi.h"

struct mpi_rank;
struct mpi_attr;

/*
 * The attributes that a duplicate of the object gets from the copy functions: a list, NULL if there
 * are none. The caller owns it and passes it on to mpi_attr_attach or mpi_attr_drop. Returns the
 * code of a copy function that failed (*out is then NULL), or MPI_SUCCESS. MPI_Comm_idup copies at
 * the call and attaches when it has the handle.
 */
int mpi_attr_copy(struct mpi_rank *self, int from, struct mpi_attr **out);
/* Attaches them to a new object without attributes. */
void mpi_attr_attach(struct mpi_rank *self, int to, struct mpi_attr *list);

/* Both steps at once. */
int mpi_attr_copy_all(struct mpi_rank *self, int from, int to);

/*
 * Calls the delete functions of all attributes that the rank has on the object, the newest first,
 * and removes them. Call it before the object is freed. Returns the code of a function that failed:
 * the object then keeps the rest and must not be freed.
 */
int mpi_attr_delete_all(struct mpi_rank *self, int handle);

#endif
