/*
 * Reduce-scatter by recursive doubling: an allreduce of all items, of which a rank keeps its block.
 * Serves reduce_scatter and reduce_scatter_block.
 *
 * Cost: ceil(log2 P) * (alpha + n beta + n gamma) for n bytes in all, two rounds more for P no
 * power of two. Operations need not commute.
 */
#include "mpi/coll/coll_internal.h"

static int run(struct mpi_rank *self, struct mpi_comm *c, const struct mpi_coll_args *a, int tag)
{
    struct coll_team all = {.n = a->size, .me = a->rank};
    struct mpi_coll_args whole = *a;

    whole.rcount = coll_block_sum(a, 0, a->size);
    void *acc = coll_items_alloc(a, a->rtype, whole.rcount);
    coll_copy(coll_source(a), acc, whole.rcount, a->rtype);
    int rc = coll_team_allreduce(self, c, &whole, &all, acc, tag);
    if (!rc)
        coll_copy(coll_at(acc, (int64_t)coll_block_sum(a, 0, a->rank), a->rtype), a->rbuf,
                  coll_block_count(a, a->rank), a->rtype);
    coll_items_free(acc, a->rtype, whole.rcount);
    return rc;
}

int coll_reduce_scatter_recursive_doubling(struct mpi_rank *self, struct mpi_comm *c,
                                           const struct mpi_coll_args *a)
{
    return run(self, c, a, MPI_TAG_REDUCE_SCATTER);
}

int coll_reduce_scatter_block_recursive_doubling(struct mpi_rank *self, struct mpi_comm *c,
                                                 const struct mpi_coll_args *a)
{
    return run(self, c, a, MPI_TAG_REDUCE_SCATTER_BLOCK);
}
