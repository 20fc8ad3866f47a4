/*
 * check.h - checks of arguments that all calls share.
 *
 * Each returns MPI_SUCCESS, or what mpi_raise returned after raising the error.
 */
#ifndef MPI_CHECK_H
#define MPI_CHECK_H

#include "mpi/error.h"

/* The pointer the program passed for argument `what` must not be NULL. */
static inline int mpi_check_ptr(struct mpi_rank *self, MPI_Comm comm, const void *p,
                                const char *what)
{
    return p ? MPI_SUCCESS
             : mpi_raise(self, comm, MPI_ERR_ARG, "the argument '%s' is a null pointer", what);
}

/* A count of array entries, and the array if there are any. */
static inline int mpi_check_array(struct mpi_rank *self, int n, const void *array, const char *what)
{
    if (n < 0)
        return mpi_raise(self, MPI_COMM_NULL, MPI_ERR_ARG, "the count is negative (%d)", n);
    return n ? mpi_check_ptr(self, MPI_COMM_NULL, array, what) : MPI_SUCCESS;
}

#endif
