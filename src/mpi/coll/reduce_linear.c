/*
 * Linear reduction: every rank sends its items to the root, which folds them in rank order.
 *
 * Cost: alpha + (P - 1) * (n beta + n gamma) at the root, the bottleneck. Operations need not
 * commute.
 */
#include "mpi/coll/coll_internal.h"

static int run_root(struct mpi_rank *self, struct mpi_comm *c, const struct mpi_coll_args *a,
                    void *own, void *in)
{
    int rc = MPI_SUCCESS;

    coll_copy(coll_source(a), own, a->rcount, a->rtype);
    if (a->rank) /* the fold starts with rank 0 */
        rc |= mpi_coll_recv(self, c, a->rbuf, a->rcount, a->rtype, 0, MPI_TAG_REDUCE);
    else if (a->sbuf != MPI_IN_PLACE)
        coll_copy(a->sbuf, a->rbuf, a->rcount, a->rtype);
    for (int i = 1; i < a->size; i++) {
        if (i != a->rank)
            rc |= mpi_coll_recv(self, c, in, a->rcount, a->rtype, i, MPI_TAG_REDUCE);
        if (!rc)
            rc = coll_fold(a, a->rbuf, i == a->rank ? own : in, a->rcount, 0);
    }
    return rc;
}

int coll_reduce_linear(struct mpi_rank *self, struct mpi_comm *c, const struct mpi_coll_args *a)
{
    if (a->rank != a->root)
        return mpi_coll_send(self, c, coll_source(a), a->rcount, a->rtype, a->root, MPI_TAG_REDUCE);
    void *own = coll_items_alloc(a, a->rtype, a->rcount),
         *in = coll_items_alloc(a, a->rtype, a->rcount);
    int rc = run_root(self, c, a, own, in);
    coll_items_free(in, a->rtype, a->rcount);
    coll_items_free(own, a->rtype, a->rcount);
    return rc;
}
