/*
 * Reduction in two levels: up a binomial tree to the first rank of each node, then between these,
 * by whatever algorithm is chosen for that many ranks, to that of the root's node, which sends the
 * result to the root.
 *
 * Cost, for N nodes of R ranks: ceil(log2 R) * (alpha + n beta + n gamma) inside nodes + that of a
 * reduction of N ranks, such as ceil(log2 N) * (alpha + n beta + n gamma), + alpha + n beta if the
 * root is not the first of its node.
 */
#include "mpi/coll/coll_internal.h"

/* Between first ranks; acc holds the node's result, and gets that of all at the root's node. */
static int reduce_nodes(struct mpi_rank *self, struct mpi_comm *c, const struct mpi_coll_args *a,
                        int mine, int at, void *acc)
{
    struct mpi_coll_args part = *a;

    part.sbuf = mine == at ? MPI_IN_PLACE : acc;
    part.rbuf = acc;
    part.root = at;
    return coll_nodes_run(self, c, &part, mine);
}

int coll_reduce_two_level(struct mpi_rank *self, struct mpi_comm *c, const struct mpi_coll_args *a)
{
    struct coll_team node;
    int mine = coll_nodes_team(c, a->rank, &node), at = coll_nodes_index(c, a->root);
    int is_root = a->rank == a->root, in_place = is_root && !node.me;
    void *acc = in_place ? a->rbuf : coll_items_alloc(a, a->rtype, a->rcount);

    if (!in_place || a->sbuf != MPI_IN_PLACE)
        coll_copy(coll_source(a), acc, a->rcount, a->rtype);
    int rc = coll_team_reduce(self, c, a, &node, 0, acc, MPI_TAG_REDUCE);
    if (!rc && !node.me) {
        rc = reduce_nodes(self, c, a, mine, at, acc);
        if (!rc && mine == at && !is_root)
            rc = mpi_coll_send(self, c, acc, a->rcount, a->rtype, a->root, MPI_TAG_REDUCE);
    }
    if (!in_place)
        coll_items_free(acc, a->rtype, a->rcount);
    if (rc || !is_root || in_place)
        return rc;
    return mpi_coll_recv(self, c, a->rbuf, a->rcount, a->rtype, coll_team_rank(&node, 0),
                         MPI_TAG_REDUCE);
}
