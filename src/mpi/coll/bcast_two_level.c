/*
 * Broadcast in two levels: in the root's node, then between the first ranks of the nodes, then in
 * the other nodes. Inside a node down a binomial tree; between nodes by whatever algorithm is
 * chosen for that many ranks.
 *
 * Cost, for N nodes of R ranks: 2 ceil(log2 R) * (alpha + n beta) inside nodes + that of a
 * broadcast to N ranks, such as ceil(log2 N) * (alpha + n beta).
 */
#include "mpi/coll/coll_internal.h"

int coll_bcast_two_level(struct mpi_rank *self, struct mpi_comm *c, const struct mpi_coll_args *a)
{
    struct coll_team node;
    struct coll_block b = {a->rbuf, a->rcount, a->rtype};
    int mine = coll_nodes_team(c, a->rank, &node), at = coll_nodes_index(c, a->root);
    int rc = MPI_SUCCESS;

    if (mine == at)
        rc = coll_team_bcast(self, c, &node, coll_nodes_number(c, a->root), &b, MPI_TAG_BCAST);
    if (!rc && !node.me) {
        struct mpi_coll_args part = *a;
        part.root = at;
        rc = coll_nodes_run(self, c, &part, mine);
    }
    if (!rc && mine != at)
        rc = coll_team_bcast(self, c, &node, 0, &b, MPI_TAG_BCAST);
    return rc;
}
