/*
 * status_api.c - statuses between C and Fortran: MPICH's have the same layout, five integers.
 */
#include <string.h>

#include "mpi/rank.h"
#include "mpi_impl.h"

_Static_assert(sizeof(MPI_Status) == 5 * sizeof(MPI_Fint), "MPI_STATUS_SIZE is 5");

int mpi_status_c2f(struct mpi_rank *self, const MPI_Status *c_status, MPI_Fint *f_status)
{
    (void)self;
    memcpy(f_status, c_status, sizeof *c_status);
    return MPI_SUCCESS;
}

int mpi_status_f2c(struct mpi_rank *self, const MPI_Fint *f_status, MPI_Status *c_status)
{
    (void)self;
    memcpy(c_status, f_status, sizeof *c_status);
    return MPI_SUCCESS;
}
