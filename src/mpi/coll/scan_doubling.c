/*
 * Prefix reductions (scan, exscan) by recursive doubling.
 *
 * In round k ranks that differ in bit k exchange the results of their aligned groups of 2^k ranks.
 * What comes from below goes into both the group's result and the prefix; what comes from above
 * only into the group's. Groups are runs of ranks, so the operation need not commute. Cost:
 * ceil(log2 P) * (alpha + n beta + 2 n gamma).
 */
#include "mpi/coll/coll_internal.h"

/* Folds what came from below into the prefix; the first of an exscan starts it. */
static int fold_prefix(const struct mpi_coll_args *a, void *in, int peer)
{
    /* The lowest set bit of my rank is the first round in which anything comes from below. */
    if (a->op_id == MPI_COLL_exscan && (a->rank ^ peer) == (a->rank & -a->rank)) {
        coll_copy(in, a->rbuf, a->rcount, a->rtype);
        return MPI_SUCCESS;
    }
    return coll_fold(a, a->rbuf, in, a->rcount, 1);
}

static int round_with(struct mpi_rank *self, struct mpi_comm *c, const struct mpi_coll_args *a,
                      void *group, void *in, int peer)
{
    int rc = mpi_coll_sendrecv(self, c, group, a->rcount, a->rtype, peer, in, a->rcount, a->rtype,
                               peer, a->op_id == MPI_COLL_scan ? MPI_TAG_SCAN : MPI_TAG_EXSCAN);
    if (!rc && peer < a->rank)
        rc = fold_prefix(a, in, peer);
    return rc ? rc : coll_fold(a, group, in, a->rcount, peer < a->rank);
}

static int run(struct mpi_rank *self, struct mpi_comm *c, const struct mpi_coll_args *a)
{
    void *group = coll_items_alloc(a, a->rtype, a->rcount);
    void *in = coll_items_alloc(a, a->rtype, a->rcount);
    int rc = MPI_SUCCESS;

    coll_copy(coll_source(a), group, a->rcount, a->rtype);
    for (int mask = 1; mask < a->size; mask <<= 1)
        if ((a->rank ^ mask) < a->size)
            rc |= round_with(self, c, a, group, in, a->rank ^ mask);
    coll_items_free(in, a->rtype, a->rcount);
    coll_items_free(group, a->rtype, a->rcount);
    return rc;
}

int coll_scan_recursive_doubling(struct mpi_rank *self, struct mpi_comm *c,
                                 const struct mpi_coll_args *a)
{
    if (a->sbuf != MPI_IN_PLACE)
        coll_copy(a->sbuf, a->rbuf, a->rcount, a->rtype);
    return run(self, c, a);
}

int coll_exscan_recursive_doubling(struct mpi_rank *self, struct mpi_comm *c,
                                   const struct mpi_coll_args *a)
{
    return run(self, c, a);
}
