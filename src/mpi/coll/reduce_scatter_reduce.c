/*
 * Reduce-scatter as a reduction of all items to rank 0 and a scatter of the result.
 *
 * Cost with binomial trees (reduce_scatter_block): 2 ceil(log2 P) * alpha + ceil(log2 P) * (n beta
 * + n gamma) + n beta (P - 1) / P for n bytes in all; blocks of any length (reduce_scatter) are
 * scattered linearly: (P - 1) * o more. Operations need not commute.
 */
#include "mpi/coll/coll_internal.h"

/* The reduction, its result to `all` at rank 0. */
static int reduce(struct mpi_rank *self, struct mpi_comm *c, const struct mpi_coll_args *a,
                  uint64_t items, void *all)
{
    struct mpi_coll_args part = *a;

    part.op_id = MPI_COLL_reduce;
    part.root = 0;
    part.rcount = items;
    part.sbuf = coll_source(a);
    part.rbuf = all;
    return coll_reduce_binomial(self, c, &part);
}

int coll_reduce_scatter_block_reduce_scatter(struct mpi_rank *self, struct mpi_comm *c,
                                             const struct mpi_coll_args *a)
{
    uint64_t items = a->rcount * (uint64_t)a->size;
    void *all = a->rank ? NULL : coll_items_alloc(a, a->rtype, items);
    struct mpi_coll_args part = {.sbuf = all,
                                 .scount = a->rcount,
                                 .stype = a->rtype,
                                 .rbuf = a->rbuf,
                                 .rcount = a->rcount,
                                 .rtype = a->rtype,
                                 .rank = a->rank,
                                 .size = a->size,
                                 .op_id = MPI_COLL_scatter};
    int rc = reduce(self, c, a, items, all);

    if (!rc)
        rc = coll_scatter_binomial(self, c, &part);
    if (all)
        coll_items_free(all, a->rtype, items);
    return rc;
}

/* Where the blocks begin. */
static MPI_Aint *block_starts(const struct mpi_coll_args *a)
{
    MPI_Aint *start = (MPI_Aint *)mem_alloc((size_t)a->size * sizeof *start), at = 0;

    for (int i = 0; i < a->size; i++) {
        start[i] = at;
        at += (MPI_Aint)coll_block_count(a, i);
    }
    return start;
}

int coll_reduce_scatter_reduce_scatterv(struct mpi_rank *self, struct mpi_comm *c,
                                        const struct mpi_coll_args *a)
{
    uint64_t items = coll_block_sum(a, 0, a->size);
    void *all = a->rank ? NULL : coll_items_alloc(a, a->rtype, items);
    MPI_Aint *start = a->rank ? NULL : block_starts(a);
    struct mpi_coll_args part = {.sbuf = all,
                                 .scounts = a->rcounts,
                                 .stype = a->rtype,
                                 .sdispls = start,
                                 .rbuf = a->rbuf,
                                 .rcount = coll_block_count(a, a->rank),
                                 .rtype = a->rtype,
                                 .rank = a->rank,
                                 .size = a->size,
                                 .op_id = MPI_COLL_scatterv,
                                 .arrays = a->arrays | COLL_WIDE_DISPLS};
    int rc = reduce(self, c, a, items, all);

    if (!rc)
        rc = coll_scatterv_linear(self, c, &part);
    mem_free(start);
    if (all)
        coll_items_free(all, a->rtype, items);
    return rc;
}
