/*
 * Reduction up a binomial tree.
 *
 * Each rank folds its children's results into its own and sends that to its parent. Cost:
 * ceil(log2 P) * (alpha + n beta + n gamma). The tree is rooted at the root; if the operation does
 * not commute it is rooted at rank 0, so that subtrees are runs of ranks, and the result makes one
 * more step. A leaf needs no memory.
 */
#include "mpi/coll/coll_internal.h"

/* Receives the children's results and folds them into acc; n: ranks in my subtree. */
static int fold_children(struct mpi_rank *self, struct mpi_comm *c, const struct mpi_coll_args *a,
                         void *acc, int n)
{
    void *in = coll_items_alloc(a, a->rtype, a->rcount);
    int rc = MPI_SUCCESS;

    for (int mask = 1; mask < n; mask <<= 1) {
        rc |= mpi_coll_recv(self, c, in, a->rcount, a->rtype, coll_after(a, a->rank, mask),
                            MPI_TAG_REDUCE);
        if (!rc)
            rc = coll_fold(a, acc, in, a->rcount, 0);
    }
    coll_items_free(in, a->rtype, a->rcount);
    return rc;
}

static int run_inner(struct mpi_rank *self, struct mpi_comm *c, const struct mpi_coll_args *a,
                     int n, int parent)
{
    void *acc = coll_items_alloc(a, a->rtype, a->rcount);

    coll_copy(coll_source(a), acc, a->rcount, a->rtype);
    int rc = fold_children(self, c, a, acc, n);
    rc |= mpi_coll_send(self, c, acc, a->rcount, a->rtype, parent, MPI_TAG_REDUCE);
    coll_items_free(acc, a->rtype, a->rcount);
    return rc;
}

/* The part of one rank in a tree rooted at `top`; a result at another root is sent to it. */
static int run_tree(struct mpi_rank *self, struct mpi_comm *c, const struct mpi_coll_args *a,
                    int top)
{
    int r = coll_before(a, a->rank, top), low = r & -r;

    if (!r && top == a->root) {
        if (a->sbuf != MPI_IN_PLACE)
            coll_copy(a->sbuf, a->rbuf, a->rcount, a->rtype);
        return fold_children(self, c, a, a->rbuf, a->size);
    }
    int n = r ? coll_min(low, a->size - r) : a->size;
    int parent = r ? coll_before(a, a->rank, low) : a->root;
    if (n > 1)
        return run_inner(self, c, a, n, parent);
    return mpi_coll_send(self, c, coll_source(a), a->rcount, a->rtype, parent, MPI_TAG_REDUCE);
}

int coll_reduce_binomial(struct mpi_rank *self, struct mpi_comm *c, const struct mpi_coll_args *a)
{
    int top = a->op->commute ? a->root : 0;
    int rc = run_tree(self, c, a, top);

    if (a->rank != a->root || top == a->root)
        return rc;
    return rc | mpi_coll_recv(self, c, a->rbuf, a->rcount, a->rtype, 0, MPI_TAG_REDUCE);
}
