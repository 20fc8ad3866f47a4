/*
 * Prefix reductions (scan, exscan) along the line of ranks: a rank receives the result of the ranks
 * before it, adds its own items and sends the sum to the next rank.
 *
 * Cost: (P - 1) * (alpha + n beta + n gamma) for the last rank; P - 1 messages in all, the fewest.
 * Operations need not commute.
 */
#include "mpi/coll/coll_internal.h"

/* acc holds my own items and gets the prefix that includes them. */
static int run(struct mpi_rank *self, struct mpi_comm *c, const struct mpi_coll_args *a, void *acc,
               void *before, int tag)
{
    int rc = MPI_SUCCESS;

    if (a->rank) {
        rc = mpi_coll_recv(self, c, before, a->rcount, a->rtype, a->rank - 1, tag);
        if (!rc && a->op_id == MPI_COLL_exscan)
            coll_copy(before, a->rbuf, a->rcount, a->rtype);
        if (!rc)
            rc = coll_fold(a, acc, before, a->rcount, 1);
    }
    if (!rc && a->rank < a->size - 1)
        rc = mpi_coll_send(self, c, acc, a->rcount, a->rtype, a->rank + 1, tag);
    return rc;
}

int coll_scan_linear(struct mpi_rank *self, struct mpi_comm *c, const struct mpi_coll_args *a)
{
    void *before = coll_items_alloc(a, a->rtype, a->rcount);

    if (a->sbuf != MPI_IN_PLACE)
        coll_copy(a->sbuf, a->rbuf, a->rcount, a->rtype);
    int rc = run(self, c, a, a->rbuf, before, MPI_TAG_SCAN);
    coll_items_free(before, a->rtype, a->rcount);
    return rc;
}

int coll_exscan_linear(struct mpi_rank *self, struct mpi_comm *c, const struct mpi_coll_args *a)
{
    void *acc = coll_items_alloc(a, a->rtype, a->rcount);
    void *before = coll_items_alloc(a, a->rtype, a->rcount);

    coll_copy(coll_source(a), acc, a->rcount, a->rtype);
    int rc = run(self, c, a, acc, before, MPI_TAG_EXSCAN);
    coll_items_free(before, a->rtype, a->rcount);
    coll_items_free(acc, a->rtype, a->rcount);
    return rc;
}
