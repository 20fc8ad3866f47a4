/*
 * Reduction in two levels: up a binomial tree in each node to one of its ranks, then up one of these
 * ranks to the root, which is the rank of its node.
 *
 * Cost, for N nodes of R ranks: (ceil(log2 R) inside nodes + ceil(log2 N) between them) * (alpha +
 * n beta + n gamma).
 */
#include "mpi/coll/coll_internal.h"

int coll_reduce_two_level(struct mpi_rank *self, struct mpi_comm *c, const struct mpi_coll_args *a)
{
    struct coll_team node, leads;
    int top = coll_nodes_teams(c, a->rank, a->root, &node, &leads), is_root = a->rank == a->root;
    void *acc = is_root ? a->rbuf : coll_items_alloc(a->rtype, a->rcount);

    if (!is_root || a->sbuf != MPI_IN_PLACE)
        coll_copy(coll_source(a), acc, a->rcount, a->rtype);
    int rc = coll_team_reduce(self, c, a, &node, top, acc, MPI_TAG_REDUCE);
    if (leads.me >= 0)
        rc |= coll_team_reduce(self, c, a, &leads, leads.special, acc, MPI_TAG_REDUCE);
    if (!is_root)
        coll_items_free(acc, a->rtype, a->rcount);
    return rc;
}
