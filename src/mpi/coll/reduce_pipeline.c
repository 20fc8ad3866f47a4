/*
 * Reduction along a chain of ranks that ends at the root: in segments that follow each other
 * (pipeline), or in one piece (chain).
 *
 * Cost for s segments: (P - 2 + s) * (alpha + n/s beta + n/s gamma); in one piece (P - 1) * (alpha
 * + n beta + n gamma). A rank folds its own items with what it receives from the rank after it, in
 * this order. If the operation does not commute the chain ends at rank 0, and the result makes one
 * more step.
 */
#include "mpi/coll/coll_internal.h"

/* One segment: items [at, at + n). */
static int step(struct mpi_rank *self, struct mpi_comm *c, const struct mpi_coll_args *a, int top,
                void *acc, void *in, uint64_t at, uint64_t n)
{
    int r = coll_before(a, a->rank, top), rc = MPI_SUCCESS;
    void *here = coll_at(acc, (int64_t)at, a->rtype);

    if (r < a->size - 1) {
        rc |= mpi_coll_recv(self, c, in, n, a->rtype, coll_after(a, a->rank, 1), MPI_TAG_REDUCE);
        if (!rc)
            rc = coll_fold(a, here, in, n, 0);
    }
    if (r)
        rc |= mpi_coll_send(self, c, here, n, a->rtype, coll_before(a, a->rank, 1), MPI_TAG_REDUCE);
    return rc;
}

static int chain(struct mpi_rank *self, struct mpi_comm *c, const struct mpi_coll_args *a, int top,
                 void *acc, uint64_t segment)
{
    void *in = coll_items_alloc(a, a->rtype, segment);
    int rc = MPI_SUCCESS;

    for (uint64_t at = 0; at < a->rcount; at += segment)
        rc |= step(self, c, a, top, acc, in, at,
                   a->rcount - at < segment ? a->rcount - at : segment);
    coll_items_free(in, a->rtype, segment);
    return rc;
}

static int run(struct mpi_rank *self, struct mpi_comm *c, const struct mpi_coll_args *a,
               uint64_t segment)
{
    int top = a->op->commute ? a->root : 0, is_end = a->rank == top && top == a->root;
    void *acc = is_end ? a->rbuf : coll_items_alloc(a, a->rtype, a->rcount);

    if (!is_end || a->sbuf != MPI_IN_PLACE)
        coll_copy(coll_source(a), acc, a->rcount, a->rtype);
    int rc = chain(self, c, a, top, acc, segment);
    if (a->rank == top && !is_end)
        rc |= mpi_coll_send(self, c, acc, a->rcount, a->rtype, a->root, MPI_TAG_REDUCE);
    if (!is_end)
        coll_items_free(acc, a->rtype, a->rcount);
    if (rc || a->rank != a->root || is_end)
        return rc;
    return mpi_coll_recv(self, c, a->rbuf, a->rcount, a->rtype, top, MPI_TAG_REDUCE);
}

int coll_reduce_pipeline(struct mpi_rank *self, struct mpi_comm *c, const struct mpi_coll_args *a)
{
    uint64_t size = a->rtype->size, items = size && size < COLL_SEGMENT ? COLL_SEGMENT / size : 1;

    return run(self, c, a, items < a->rcount ? items : a->rcount);
}

int coll_reduce_chain(struct mpi_rank *self, struct mpi_comm *c, const struct mpi_coll_args *a)
{
    return run(self, c, a, a->rcount);
}
