/*
 * Reduce-scatter by pairwise exchange, for reduce_scatter and reduce_scatter_block.
 *
 * P - 1 steps; in step i a rank sends to the rank i after it that rank's block, and folds its own
 * block as it comes from the rank i before it. Cost: (P - 1) * alpha + (n beta + n gamma) (P - 1) /
 * P. No item is sent twice and memory is one block: best for long messages. Blocks fold out of rank
 * order: commutative operations.
 */
#include "mpi/coll/coll_internal.h"

/* The P - 1 steps; acc holds my own contribution to my block, `in` takes that of others. */
static int exchange(struct mpi_rank *self, struct mpi_comm *c, const struct mpi_coll_args *a,
                    void *acc, void *in)
{
    uint64_t at = coll_block_sum(a, 0, a->rank); /* first item of block dst - 1 */
    int tag = a->op_id == MPI_COLL_reduce_scatter ? MPI_TAG_REDUCE_SCATTER
                                                  : MPI_TAG_REDUCE_SCATTER_BLOCK;
    int rc = MPI_SUCCESS;

    for (int i = 1; i < a->size; i++) {
        int dst = coll_after(a, a->rank, i);
        at = dst ? at + coll_block_count(a, dst - 1) : 0;
        rc |= mpi_coll_sendrecv(self, c, coll_at(coll_source(a), (int64_t)at, a->rtype),
                                coll_block_count(a, dst), a->rtype, dst, in,
                                coll_block_count(a, a->rank), a->rtype, coll_before(a, a->rank, i),
                                tag);
        if (!rc)
            rc = coll_fold(a, acc, in, coll_block_count(a, a->rank), 1);
    }
    return rc;
}

static int run(struct mpi_rank *self, struct mpi_comm *c, const struct mpi_coll_args *a)
{
    uint64_t mine = coll_block_count(a, a->rank);
    void *in = coll_items_alloc(a, a->rtype, mine), *acc = a->rbuf;

    if (a->sbuf == MPI_IN_PLACE) /* the result overwrites items still to be sent */
        acc = coll_items_alloc(a, a->rtype, mine);
    coll_copy(coll_at(coll_source(a), (int64_t)coll_block_sum(a, 0, a->rank), a->rtype), acc, mine,
              a->rtype);
    int rc = exchange(self, c, a, acc, in);
    if (a->sbuf == MPI_IN_PLACE) {
        if (!rc)
            coll_copy(acc, a->rbuf, mine, a->rtype);
        coll_items_free(acc, a->rtype, mine);
    }
    coll_items_free(in, a->rtype, mine);
    return rc;
}

int coll_reduce_scatter_pairwise(struct mpi_rank *self, struct mpi_comm *c,
                                 const struct mpi_coll_args *a)
{
    return run(self, c, a);
}

int coll_reduce_scatter_block_pairwise(struct mpi_rank *self, struct mpi_comm *c,
                                       const struct mpi_coll_args *a)
{
    return run(self, c, a);
}
