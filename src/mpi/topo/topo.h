/*
 * topo.h - Cartesian topologies of communicators.
 *
 * One object is shared by all members of a communicator and its duplicates; a rank's coordinates
 * follow from its rank. Nothing here switches.
 */
#ifndef MPI_TOPO_TOPO_H
#define MPI_TOPO_TOPO_H

#include <stdint.h>

struct mpi_topo {
    uint32_t refs;
    int ndims;
    int *dims;    /* ndims sizes ... */
    int *periods; /* ... and 0 or 1 each; one allocation with the struct */
};

/* Copies its arguments; one ref for the caller. */
struct mpi_topo *mpi_topo_cart(int ndims, const int *dims, const int *periods);
struct mpi_topo *mpi_topo_ref(struct mpi_topo *);
void mpi_topo_unref(struct mpi_topo *);

/* Balanced factors: fills the ndims entries of `out` with factors of n > 0, not increasing, as
 * close together as possible (see dims.c). */
void mpi_dims_balance(int n, int ndims, int *out);

#endif
