/*
 * Reduction up a binary tree whose subtrees are runs of ranks: the last rank of a run is its top
 * and folds the results of the lower and of the upper half of the others with its own.
 *
 *     0 1 2 3 4 5 6      6 has children 2 (0 1 2) and 5 (3 4 5); 2 has 0 and 1
 *
 * Cost: about log2 P * (alpha + 2 n beta + 2 n gamma). `binary` turns the ranks around the ring so
 * that the root is on top; `in_order_binary`, and operations that do not commute, keep the order of
 * ranks, and the result goes from the last rank to the root: one more alpha + n beta.
 */
#include "mpi/coll/coll_internal.h"

struct subtree {
    int lo, hi; /* my run, I am its last: [lo, hi) */
    int parent; /* -1: none */
};

/* The position of number r in the tree of n. */
static struct subtree find(int r, int n)
{
    struct subtree p = {0, n, -1};

    while (r != p.hi - 1) {
        int half = p.lo + (p.hi - p.lo) / 2; /* the lower of the others, rounded up */
        p.parent = p.hi - 1;
        if (r < half) {
            p.hi = half;
        } else {
            p.lo = half;
            p.hi--;
        }
    }
    return p;
}

static int fold_child(struct mpi_rank *self, struct mpi_comm *c, const struct mpi_coll_args *a,
                      void *acc, void *in, int child)
{
    int rc = mpi_coll_recv(self, c, in, a->rcount, a->rtype, child, MPI_TAG_REDUCE);

    return rc ? rc : coll_fold(a, acc, in, a->rcount, 1);
}

/* The part of one rank; `turn` ranks come before number 0. acc holds my items. */
static int climb(struct mpi_rank *self, struct mpi_comm *c, const struct mpi_coll_args *a,
                 const struct subtree *p, int turn, void *acc)
{
    int half = p->lo + (p->hi - p->lo) / 2, rc = MPI_SUCCESS;
    void *in = coll_items_alloc(a, a->rtype, a->rcount);

    if (half < p->hi - 1)
        rc = fold_child(self, c, a, acc, in, coll_after(a, p->hi - 2, turn));
    if (!rc && half > p->lo)
        rc = fold_child(self, c, a, acc, in, coll_after(a, half - 1, turn));
    coll_items_free(in, a->rtype, a->rcount);
    if (!rc && p->parent >= 0)
        rc = mpi_coll_send(self, c, acc, a->rcount, a->rtype, coll_after(a, p->parent, turn),
                           MPI_TAG_REDUCE);
    return rc;
}

static int run(struct mpi_rank *self, struct mpi_comm *c, const struct mpi_coll_args *a, int turn)
{
    struct subtree p = find(coll_before(a, a->rank, turn), a->size);
    int top = coll_after(a, a->size - 1, turn), rc;

    if (p.hi - p.lo == 1 && p.parent >= 0) {
        rc = mpi_coll_send(self, c, coll_source(a), a->rcount, a->rtype,
                           coll_after(a, p.parent, turn), MPI_TAG_REDUCE);
    } else {
        void *acc = coll_items_alloc(a, a->rtype, a->rcount);
        coll_copy(coll_source(a), acc, a->rcount, a->rtype);
        rc = climb(self, c, a, &p, turn, acc);
        if (!rc && a->rank == top && top != a->root)
            rc = mpi_coll_send(self, c, acc, a->rcount, a->rtype, a->root, MPI_TAG_REDUCE);
        if (!rc && a->rank == top && top == a->root)
            coll_copy(acc, a->rbuf, a->rcount, a->rtype);
        coll_items_free(acc, a->rtype, a->rcount);
    }
    if (rc || a->rank != a->root || top == a->root)
        return rc;
    return mpi_coll_recv(self, c, a->rbuf, a->rcount, a->rtype, top, MPI_TAG_REDUCE);
}

int coll_reduce_binary(struct mpi_rank *self, struct mpi_comm *c, const struct mpi_coll_args *a)
{
    return run(self, c, a, a->op->commute ? coll_after(a, a->root, 1) : 0);
}

int coll_reduce_in_order_binary(struct mpi_rank *self, struct mpi_comm *c,
                                const struct mpi_coll_args *a)
{
    return run(self, c, a, 0);
}
