/*
 * Reduce-scatter around a ring, for reduce_scatter and reduce_scatter_block.
 *
 * The block of rank i starts at rank i + 1 and goes around the ring; every rank folds its own items
 * into it. Cost: (P - 1) * alpha + (n beta + n gamma) (P - 1) / P for n bytes in all, between
 * neighbours only. Memory of two blocks. Blocks fold in the order of the ring: commutative
 * operations.
 */
#include "mpi/coll/coll_internal.h"

static uint64_t largest_block(const struct mpi_coll_args *a)
{
    uint64_t most = 0;

    if (a->op_id == MPI_COLL_reduce_scatter_block)
        return a->rcount;
    for (int i = 0; i < a->size; i++)
        if (coll_block_count(a, i) > most)
            most = coll_block_count(a, i);
    return most;
}

/* The P - 1 steps; returns in *result where my block is. */
static int go_around(struct mpi_rank *self, struct mpi_comm *c, const struct mpi_coll_args *a,
                     void *two[2], void **result)
{
    int tag = a->op_id == MPI_COLL_reduce_scatter ? MPI_TAG_REDUCE_SCATTER
                                                  : MPI_TAG_REDUCE_SCATTER_BLOCK;
    int block = coll_before(a, a->rank, 1), rc = MPI_SUCCESS;
    uint64_t at = coll_block_sum(a, 0, block); /* first item of `block`, which I send */
    const void *out = coll_at(coll_source(a), (int64_t)at, a->rtype);

    for (int step = 1; step < a->size; step++) {
        int next = coll_before(a, block, 1);
        uint64_t items = coll_block_count(a, next);
        void *in = two[step % 2];
        at = block ? at - items : coll_block_sum(a, 0, next);
        rc |= mpi_coll_sendrecv(self, c, out, coll_block_count(a, block), a->rtype,
                                coll_after(a, a->rank, 1), in, items, a->rtype,
                                coll_before(a, a->rank, 1), tag);
        if (!rc)
            rc = coll_fold(a, in, coll_at(coll_source(a), (int64_t)at, a->rtype), items, 1);
        out = *result = in;
        block = next;
    }
    return rc;
}

static int run(struct mpi_rank *self, struct mpi_comm *c, const struct mpi_coll_args *a)
{
    uint64_t most = largest_block(a);
    void *two[2] = {coll_items_alloc(a, a->rtype, most), coll_items_alloc(a, a->rtype, most)};
    void *result = two[0];
    int rc = go_around(self, c, a, two, &result);

    if (!rc)
        coll_copy(result, a->rbuf, coll_block_count(a, a->rank), a->rtype);
    coll_items_free(two[1], a->rtype, most);
    coll_items_free(two[0], a->rtype, most);
    return rc;
}

int coll_reduce_scatter_ring(struct mpi_rank *self, struct mpi_comm *c,
                             const struct mpi_coll_args *a)
{
    return run(self, c, a);
}

int coll_reduce_scatter_block_ring(struct mpi_rank *self, struct mpi_comm *c,
                                   const struct mpi_coll_args *a)
{
    return run(self, c, a);
}
