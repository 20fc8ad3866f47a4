/*
 * topo.h - creates communicators with a topology (comm/topology.h). Nothing here switches unless
 * stated otherwise.
 */
#ifndef MPI_TOPO_TOPO_H
#define MPI_TOPO_TOPO_H

#include "mpi/comm/topology.h"

/* A new communicator of the first n ranks of c, called by all ranks of c; NULL for those that are
 * not in it. May switch. Returns an MPI class. */
int mpi_topo_make_comm(struct mpi_rank *self, struct mpi_comm *c, int n, int tag,
                       struct mpi_comm **made);

/* Balanced factors: fills the ndims entries of `out` with factors of n > 0, not increasing, as
 * close together as possible (see dims.c). */
void mpi_dims_balance(int n, int ndims, int *out);

#endif
