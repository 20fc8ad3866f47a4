/*
 * check.h - checks of arguments that the entries leave to the calls (CHECKS in
 * api/mpi_functions.txt).
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

#endif
