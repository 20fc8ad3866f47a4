/*
 * hollow.c - collectives whose buffers are hollow.
 *
 * A call is hollow at a rank if a buffer that the rank uses is hollow. It sends the same messages
 * of the same sizes, but they carry nothing; it allocates no memory for data, copies nothing and
 * calls no operation; its buffers stay as they are. Algorithms need nothing but hollow arguments
 * for this: addresses that they compute from them are hollow, and so are their temporary buffers
 * (coll_items_alloc, coll_bytes_alloc).
 *
 * What ranks with real buffers receive in a call that is hollow at another rank is undefined.
 */
#include "mpi/coll/entry_check.h"

/* Does the caller have data to send (1), or a result to receive (2)? */
static int sides_used(const struct mpi_comm *c, const struct mpi_coll_args *a)
{
    int root = coll_is_root(c, a), leaf = !c->remote || a->root >= 0;

    switch (a->op_id) {
    case MPI_COLL_barrier:
        return 0;
    case MPI_COLL_bcast:
        return a->root == MPI_PROC_NULL ? 0 : 2;
    case MPI_COLL_gather:
    case MPI_COLL_gatherv:
    case MPI_COLL_reduce:
        return leaf | root << 1;
    case MPI_COLL_scatter:
    case MPI_COLL_scatterv:
        return root | leaf << 1;
    default:
        return 3;
    }
}

void coll_hollow(const struct mpi_comm *c, struct mpi_coll_args *a)
{
    int used = sides_used(c, a);
    int is_hollow = mpi_world.hollow || ((used & 1) && mpi_is_hollow(a->sbuf)) ||
                    ((used & 2) && mpi_is_hollow(a->rbuf));

    if (a->sbuf != MPI_IN_PLACE)
        a->sbuf = is_hollow ? MPI_HOLLOW : used & 1 ? a->sbuf : NULL;
    if (a->rbuf != MPI_IN_PLACE)
        a->rbuf = is_hollow ? MPI_HOLLOW : used & 2 ? a->rbuf : NULL;
}
