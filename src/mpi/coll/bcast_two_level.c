/*
 * Broadcast in two levels: down a binomial tree of one rank per node, then down one in each node.
 * On the root's node that rank is the root.
 *
 * Cost, for N nodes of R ranks: ceil(log2 N) * (alpha + n beta) between nodes + ceil(log2 R) *
 * (alpha + n beta) inside them.
 */
#include "mpi/coll/coll_internal.h"

int coll_bcast_two_level(struct mpi_rank *self, struct mpi_comm *c, const struct mpi_coll_args *a)
{
    struct coll_team node, leads;
    struct coll_block b = {a->rbuf, a->rcount, a->rtype};
    int top = coll_nodes_teams(c, a->rank, a->root, &node, &leads), rc = MPI_SUCCESS;

    if (leads.me >= 0)
        rc = coll_team_bcast(self, c, &leads, leads.special, &b, MPI_TAG_BCAST);
    return rc | coll_team_bcast(self, c, &node, top, &b, MPI_TAG_BCAST);
}
