/*
 * Allreduce in two levels: a reduction up a binomial tree in each node, an allreduce between the
 * nodes' first ranks by whatever algorithm is chosen for that many, a broadcast down the tree in
 * each node.
 *
 * Cost, for N nodes of R ranks: 2 ceil(log2 R) * (alpha + n beta) + ceil(log2 R) * n gamma inside
 * nodes + that of an allreduce of N ranks, such as ceil(log2 N) * (alpha + n beta + n gamma).
 */
#include "mpi/coll/coll_internal.h"

int coll_allreduce_two_level(struct mpi_rank *self, struct mpi_comm *c,
                             const struct mpi_coll_args *a)
{
    struct coll_team node;
    struct coll_block b = {a->rbuf, a->rcount, a->rtype};
    int mine = coll_nodes_team(c, a->rank, &node);

    if (a->sbuf != MPI_IN_PLACE)
        coll_copy(a->sbuf, a->rbuf, a->rcount, a->rtype);
    int rc = coll_team_reduce(self, c, a, &node, 0, a->rbuf, MPI_TAG_ALLREDUCE);
    if (!rc && !node.me) {
        struct mpi_coll_args part = *a;
        part.sbuf = MPI_IN_PLACE;
        rc = coll_nodes_run(self, c, &part, mine);
    }
    return rc ? rc : coll_team_bcast(self, c, &node, 0, &b, MPI_TAG_ALLREDUCE);
}
