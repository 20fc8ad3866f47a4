/*
 * inter_reduce.c - reductions between two groups.
 *
 *     reduce          the other group reduces at its rank 0, which sends to the root
 *     allreduce       both groups reduce at rank 0; these exchange and broadcast in their groups
 *     reduce_scatter  a reduce to rank 0 of each group, the low one first, then a scatter there
 */
#include "mpi/coll/inter.h"

int inter_reduce_local_reduce(struct mpi_rank *self, struct mpi_comm *c,
                              const struct mpi_coll_args *a)
{
    if (!a->rcount)
        return MPI_SUCCESS;
    if (a->root == MPI_ROOT)
        return mpi_coll_recv(self, c, a->rbuf, a->rcount, a->rtype, 0, MPI_TAG_REDUCE);
    void *sum = a->rank == 0 ? coll_items_alloc(a, a->rtype, a->rcount) : NULL;
    int rc = mpi_coll_reduce(self, c->local, a->sbuf, sum, a->rcount, a->rtype, a->op, 0);
    if (a->rank == 0)
        rc |= mpi_coll_send(self, c, sum, a->rcount, a->rtype, a->root, MPI_TAG_REDUCE);
    if (a->rank == 0)
        coll_items_free(sum, a->rtype, a->rcount);
    return rc;
}

int inter_allreduce_exchange(struct mpi_rank *self, struct mpi_comm *c,
                             const struct mpi_coll_args *a)
{
    if (!a->rcount)
        return MPI_SUCCESS;
    void *sum = a->rank == 0 ? coll_items_alloc(a, a->rtype, a->rcount) : NULL;
    int rc = mpi_coll_reduce(self, c->local, a->sbuf, sum, a->rcount, a->rtype, a->op, 0);
    if (a->rank == 0)
        rc |= mpi_coll_sendrecv(self, c, sum, a->rcount, a->rtype, 0, a->rbuf, a->rcount, a->rtype,
                                0, MPI_TAG_ALLREDUCE);
    if (a->rank == 0)
        coll_items_free(sum, a->rtype, a->rcount);
    return rc | mpi_coll_bcast(self, c->local, a->rbuf, a->rcount, a->rtype, 0);
}

/* ---- reduce_scatter ---- */

/* The reduction of one group goes to rank 0 of the other. */
static int reduce_across(struct mpi_rank *self, struct mpi_comm *c, const struct mpi_coll_args *a,
                         int receive, void *sum, uint64_t total)
{
    struct mpi_coll_args r = *a;

    if (receive && a->rank)
        return MPI_SUCCESS;
    r.rbuf = sum;
    r.rcount = total;
    r.root = receive ? MPI_ROOT : 0;
    r.op_id = MPI_COLL_reduce;
    return inter_reduce_local_reduce(self, c, &r);
}

/* Both reductions; sum is that of the other group, at rank 0. */
static int reduce_both(struct mpi_rank *self, struct mpi_comm *c, const struct mpi_coll_args *a,
                       void *sum, uint64_t total)
{
    int rc = reduce_across(self, c, a, !c->high, sum, total);

    return rc | reduce_across(self, c, a, c->high, sum, total);
}

int inter_reduce_scatter_block_reduce_scatter(struct mpi_rank *self, struct mpi_comm *c,
                                              const struct mpi_coll_args *a)
{
    uint64_t total = a->rcount * (uint64_t)a->size;
    void *sum = a->rank == 0 ? coll_items_alloc(a, a->rtype, total) : NULL;
    int rc = reduce_both(self, c, a, sum, total);

    rc |= mpi_coll_scatter(self, c->local, sum, a->rcount, a->rtype, a->rbuf, a->rcount, a->rtype,
                           0);
    if (a->rank == 0)
        coll_items_free(sum, a->rtype, total);
    return rc;
}

/* Rank 0 scatters its sum by the counts of the ranks. */
static int scatter_by_counts(struct mpi_rank *self, struct mpi_comm *c,
                             const struct mpi_coll_args *a, const void *sum)
{
    MPI_Aint *displs = a->rank == 0 ? mem_alloc((size_t)a->size * sizeof *displs) : NULL, at = 0;
    struct mpi_coll_args s = {.sbuf = sum,
                              .scounts = a->rcounts,
                              .sdispls = displs,
                              .stype = a->rtype,
                              .rbuf = a->rbuf,
                              .rcount = coll_count(a, a->rcounts, a->rank),
                              .rtype = a->rtype,
                              .root = 0,
                              .rank = a->rank,
                              .size = a->size,
                              .op_id = MPI_COLL_scatterv,
                              .arrays = a->arrays | COLL_WIDE_DISPLS};

    for (int i = 0; displs && i < a->size; at += (MPI_Aint)coll_count(a, a->rcounts, i++))
        displs[i] = at;
    int rc = mpi_coll_run(self, c->local, &s);
    mem_free(displs);
    return rc;
}

int inter_reduce_scatter_reduce_scatterv(struct mpi_rank *self, struct mpi_comm *c,
                                         const struct mpi_coll_args *a)
{
    uint64_t total = coll_block_sum(a, 0, a->size);
    void *sum = a->rank == 0 ? coll_items_alloc(a, a->rtype, total) : NULL;
    int rc = reduce_both(self, c, a, sum, total);

    rc |= scatter_by_counts(self, c, a, sum);
    if (a->rank == 0)
        coll_items_free(sum, a->rtype, total);
    return rc;
}
