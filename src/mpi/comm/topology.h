/*
 * topology.h - topologies of communicators: Cartesian, graph and distributed graph.
 *
 * One object is shared by all members of a communicator in a process, and by its duplicates. Of a
 * Cartesian topology a rank's coordinates follow from its rank; a graph is stored once as a whole,
 * since every member passes all of it; to a distributed graph every member adds its own neighbours.
 * Nothing here switches.
 */
#ifndef MPI_COMM_TOPOLOGY_H
#define MPI_COMM_TOPOLOGY_H

#include <stdint.h>

#include "base/map.h"
#include "mpi_abi.h"

struct mpi_comm;
struct mpi_rank;

enum mpi_topo_kind { MPI_TOPO_CART = 0, MPI_TOPO_GRAPH, MPI_TOPO_DIST_GRAPH };

struct mpi_topo {
    uint32_t refs;
    uint32_t kind; /* enum mpi_topo_kind */
    union {
        struct {
            int ndims;
            int *dims;    /* the size of each dimension */
            int *periods; /* 0 or 1 for each; both arrays are in the allocation of the struct */
        };
        struct {
            int nnodes;
            int *index; /* as the program gave them; one allocation with the struct */
            int *edges;
        };
        struct map own; /* distributed graph: rank in the communicator -> struct mpi_dist */
    };
};

/* One rank's neighbours in a distributed graph. */
struct mpi_dist {
    int in, out;
    int weighted;
    int numbers[]; /* sources, destinations; and their weights in the same order if weighted */
};
static inline int *mpi_dist_sources(const struct mpi_dist *d)
{
    return (int *)d->numbers;
}
static inline int *mpi_dist_destinations(const struct mpi_dist *d)
{
    return (int *)d->numbers + d->in;
}
static inline int *mpi_dist_source_weights(const struct mpi_dist *d)
{
    return (int *)d->numbers + d->in + d->out;
}
static inline int *mpi_dist_destination_weights(const struct mpi_dist *d)
{
    return (int *)d->numbers + 2 * (size_t)d->in + d->out;
}
/* Those of a rank of the communicator in this process that has added its own. */
struct mpi_dist *mpi_topo_dist_of(const struct mpi_topo *, int rank);

struct mpi_topo *mpi_topo_ref(struct mpi_topo *);
void mpi_topo_unref(struct mpi_topo *);

/* The distance in ranks between two neighbours in dimension d of a Cartesian topology; a rank's
 * coordinate in it. */
static inline int mpi_topo_cart_stride(const struct mpi_topo *t, int d)
{
    int stride = 1;

    while (++d < t->ndims)
        stride *= t->dims[d];
    return stride;
}
static inline int mpi_topo_cart_coord(const struct mpi_topo *t, int rank, int d)
{
    return rank / mpi_topo_cart_stride(t, d) % t->dims[d];
}

/* The rank `disp` steps away from rank `me` in dimension d of a Cartesian topology, or
 * MPI_PROC_NULL. */
int mpi_topo_cart_step(const struct mpi_topo *, int me, int d, int64_t disp);

/*
 * The calling rank's neighbours in the order that neighbourhood collectives use (MPI-4.0, 8.6):
 * sources send to it, destinations receive from it. In a Cartesian topology both are the ranks one
 * step down and one step up in each dimension, MPI_PROC_NULL where there is none. A rank may occur
 * more than once, also the caller itself.
 */
struct mpi_neighbors {
    int in, out;
    const int *sources, *destinations; /* borrowed from the topology, or in heap */
    int *heap;
};

/* How many sources and destinations the calling rank has in the topology of c. */
struct mpi_degrees {
    int in, out;
};
struct mpi_degrees mpi_topo_degrees(const struct mpi_rank *self, const struct mpi_comm *c);

/* Returns MPI_SUCCESS, or MPI_ERR_TOPOLOGY if c has none. O(neighbours). */
int mpi_topo_neighbors(const struct mpi_rank *self, const struct mpi_comm *c,
                       struct mpi_neighbors *);
void mpi_neighbors_fini(struct mpi_neighbors *);

#endif
