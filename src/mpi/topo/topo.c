/*
 * topo.c - common code for communicators with any kind of topology.
 *
 * A communicator with a topology is created like any other: rank 0 of the members creates it and
 * tells the others by a binomial tree. All members know a Cartesian or graph topology; the first
 * one in a process attaches it, before any of them uses it. In a distributed graph every member
 * adds its own neighbours.
 */
#include "mpi/topo/topo.h"

#include "base/mem.h"
#include "mpi/comm/check.h"
#include "mpi/comm/errhandler.h"
#include "mpi/create/create.h"
#include "mpi_impl.h"

int mpi_topo_make_comm(struct mpi_rank *self, struct mpi_comm *c, int n, int tag,
                       struct mpi_comm **made)
{
    mpi_comm_desc desc = MPI_COMM_DESC_NULL;
    int me = mpi_comm_my_rank(c, self), rc;

    *made = NULL;
    if (me >= n)
        return MPI_SUCCESS;
    if (me == 0)
        desc = mpi_comm_describe(mpi_comm_new(mpi_comm_first_ranks(self, c, n),
                                              mpi_errhandler_given(self, c)),
                                 (enum mpi_fn)self->fn, c);
    rc = mpi_comm_bcast_desc(self, c, NULL, me, n, tag, &desc);
    if (!rc)
        *made = mpi_comm_at(mpi_comm_adopt(self, c, desc));
    return rc;
}

int mpi_topo_test(struct mpi_rank *self, MPI_Comm comm, int *status)
{
    static const int names[] = {MPI_CART, MPI_GRAPH, MPI_DIST_GRAPH}; /* by enum mpi_topo_kind */
    struct mpi_comm *c;
    int rc = mpi_check_comm(self, comm, &c);

    if (!rc)
        *status = c->topo ? names[c->topo->kind] : MPI_UNDEFINED;
    return rc;
}
