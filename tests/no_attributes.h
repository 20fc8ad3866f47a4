/*
 * no_attributes.h - for tests of src/mpi/datatype alone: types have no attributes.
 */
#ifndef NO_ATTRIBUTES_H
#define NO_ATTRIBUTES_H

#include "mpi_impl.h"

struct mpi_rank;

int mpi_attr_copy_all(struct mpi_rank *self, int from, int to)
{
    (void)self;
    (void)from;
    (void)to;
    return MPI_SUCCESS;
}

int mpi_attr_delete_all(struct mpi_rank *self, int handle)
{
    (void)self;
    (void)handle;
    return MPI_SUCCESS;
}

#endif
