/*
 * Scan in two levels, where the ranks of a node are neighbours in rank order: along the line of
 * ranks in each node, after which its last rank has the node's result; an exclusive scan of these
 * by recursive doubling; a broadcast in each node of what comes before it, which every rank folds
 * in.
 *
 * Cost, for N nodes of R ranks: (R - 1) * (alpha + n beta + n gamma) + ceil(log2 R) * (alpha + n
 * beta) inside nodes + ceil(log2 N) * (alpha + n beta + 2 n gamma) between them. Operations need
 * not commute.
 */
#include "mpi/coll/coll_internal.h"

/* Within the node: rbuf gets the prefix from its first rank on. */
static int scan_node(struct mpi_rank *self, struct mpi_comm *c, const struct mpi_coll_args *a,
                     const struct coll_team *node, void *in)
{
    int rc = MPI_SUCCESS;

    if (node->me) {
        rc = mpi_coll_recv(self, c, in, a->rcount, a->rtype, a->rank - 1, MPI_TAG_SCAN);
        if (!rc)
            rc = coll_fold(a, a->rbuf, in, a->rcount, 1);
    }
    if (!rc && node->me < node->n - 1)
        rc = mpi_coll_send(self, c, a->rbuf, a->rcount, a->rtype, a->rank + 1, MPI_TAG_SCAN);
    return rc;
}

static int last_rank(const struct mpi_comm *c, int i)
{
    struct coll_team node;

    coll_nodes_team_of(c, i, &node);
    return node.base + node.n - 1;
}

/* Between the last ranks of n nodes; `before` gets the result of the nodes before mine. `group`
 * holds that of my node. */
static int scan_nodes(struct mpi_rank *self, struct mpi_comm *c, const struct mpi_coll_args *a,
                      int n, int me, void *group, void *in, void *before)
{
    int rc = MPI_SUCCESS;

    for (int mask = 1, any = 0; mask < n && !rc; mask <<= 1) {
        int peer = me ^ mask, rank;
        if (peer >= n)
            continue;
        rank = last_rank(c, peer);
        rc = mpi_coll_sendrecv(self, c, group, a->rcount, a->rtype, rank, in, a->rcount, a->rtype,
                               rank, MPI_TAG_SCAN);
        if (!rc && peer < me && any)
            rc = coll_fold(a, before, in, a->rcount, 1);
        else if (!rc && peer < me)
            coll_copy(in, before, a->rcount, a->rtype);
        any |= peer < me;
        if (!rc)
            rc = coll_fold(a, group, in, a->rcount, peer < me);
    }
    return rc;
}

static int run(struct mpi_rank *self, struct mpi_comm *c, const struct mpi_coll_args *a,
               void *group, void *in, void *before)
{
    struct coll_team node, leads;
    struct coll_block b = {before, a->rcount, a->rtype};
    int mine = coll_nodes_team(c, a->rank, &node), rc = scan_node(self, c, a, &node, in);

    coll_nodes_leads(c, mine, &leads);
    if (!rc && node.me == node.n - 1) {
        coll_copy(a->rbuf, group, a->rcount, a->rtype);
        rc = scan_nodes(self, c, a, leads.n, mine, group, in, before);
    }
    if (rc || !mine)
        return rc;
    rc = coll_team_bcast(self, c, &node, node.n - 1, &b, MPI_TAG_SCAN);
    return rc ? rc : coll_fold(a, a->rbuf, before, a->rcount, 1);
}

int coll_scan_two_level(struct mpi_rank *self, struct mpi_comm *c, const struct mpi_coll_args *a)
{
    void *group = coll_items_alloc(a, a->rtype, a->rcount),
         *in = coll_items_alloc(a, a->rtype, a->rcount);
    void *before = coll_items_alloc(a, a->rtype, a->rcount);

    if (a->sbuf != MPI_IN_PLACE)
        coll_copy(a->sbuf, a->rbuf, a->rcount, a->rtype);
    int rc = run(self, c, a, group, in, before);
    coll_items_free(before, a->rtype, a->rcount);
    coll_items_free(in, a->rtype, a->rcount);
    coll_items_free(group, a->rtype, a->rcount);
    return rc;
}
