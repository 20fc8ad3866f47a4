/*
 * Allreduce in two levels: a reduction up a binomial tree in each node, recursive doubling between
 * the nodes' first ranks, a broadcast down the tree in each node.
 *
 * Cost, for N nodes of R ranks: 2 ceil(log2 R) * (alpha + n beta) + ceil(log2 R) * n gamma inside
 * nodes + ceil(log2 N) * (alpha + n beta + n gamma) between them.
 */
#include "mpi/coll/coll_internal.h"

int coll_allreduce_two_level(struct mpi_rank *self, struct mpi_comm *c,
                             const struct mpi_coll_args *a)
{
    struct coll_team node, leads;
    struct coll_block b = {a->rbuf, a->rcount, a->rtype};

    coll_nodes_teams(c, a->rank, -1, &node, &leads);
    if (a->sbuf != MPI_IN_PLACE)
        coll_copy(a->sbuf, a->rbuf, a->rcount, a->rtype);
    int rc = coll_team_reduce(self, c, a, &node, 0, a->rbuf, MPI_TAG_ALLREDUCE);
    if (leads.me >= 0)
        rc |= coll_team_allreduce(self, c, a, &leads, a->rbuf, MPI_TAG_ALLREDUCE);
    return rc | coll_team_bcast(self, c, &node, 0, &b, MPI_TAG_ALLREDUCE);
}
