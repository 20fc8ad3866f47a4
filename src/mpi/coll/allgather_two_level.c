/*
 * Allgather in two levels: a linear gather to the first rank of each node, a ring of these ranks
 * that passes on the blocks of whole nodes, a broadcast of everything down a binomial tree in each
 * node.
 *
 * Cost, for N nodes of R ranks and n bytes in all: alpha + n/N beta and ceil(log2 R) * (alpha + n
 * beta) inside nodes; (N - 1) * alpha + n beta (N - 1) / N between them.
 */
#include "mpi/coll/coll_internal.h"

/* To the first rank of the node. */
static int collect(struct mpi_rank *self, struct mpi_comm *c, const struct mpi_coll_args *a,
                   const struct coll_team *node)
{
    int rc = coll_copy_own(a);
    struct coll_block own = coll_recv_block(a, a->rank);

    if (node->me)
        return rc | mpi_coll_send(self, c, own.buf, own.count, own.type, coll_team_rank(node, 0),
                                  MPI_TAG_ALLGATHER);
    for (int i = 1; i < node->n; i++) {
        struct coll_block b = coll_recv_block(a, coll_team_rank(node, i));
        rc |= mpi_coll_recv(self, c, b.buf, b.count, b.type, coll_team_rank(node, i),
                            MPI_TAG_ALLGATHER);
    }
    return rc;
}

/* The blocks of a node as one stream of bytes; returns its length. */
static uint64_t move_node(struct mpi_comm *c, const struct mpi_coll_args *a, int i, char *bytes,
                          int unpack)
{
    struct coll_team node;
    char *at = bytes;

    coll_nodes_team_of(c, i, &node);
    for (int k = 0; k < node.n; k++)
        at = coll_move_block(a, coll_team_rank(&node, k), at, unpack);
    return (uint64_t)(at - bytes);
}

static uint64_t node_bytes(struct mpi_comm *c, const struct mpi_coll_args *a, int i)
{
    struct coll_team node;

    coll_nodes_team_of(c, i, &node);
    return (uint64_t)node.n * a->rcount * a->rtype->size;
}

/* Sends the blocks of node `out` on and gets those of node `in`. */
static int pass(struct mpi_rank *self, struct mpi_comm *c, const struct mpi_coll_args *a,
                const struct coll_team *leads, int out, int in)
{
    uint64_t from = node_bytes(c, a, out), to = node_bytes(c, a, in);
    char *tmp = coll_bytes_alloc(a, from + to);

    move_node(c, a, out, tmp, 0);
    int rc = mpi_coll_sendrecv(self, c, tmp, from, coll_byte(),
                               coll_team_rank(leads, (leads->me + 1) % leads->n), tmp + from, to,
                               coll_byte(),
                               coll_team_rank(leads, (leads->me + leads->n - 1) % leads->n),
                               MPI_TAG_ALLGATHER);
    if (!rc)
        move_node(c, a, in, tmp + from, 1);
    coll_bytes_free(tmp);
    return rc;
}

int coll_allgather_two_level(struct mpi_rank *self, struct mpi_comm *c,
                             const struct mpi_coll_args *a)
{
    struct coll_team node, leads;
    struct coll_block all = {a->rbuf, a->rcount * (uint64_t)a->size, a->rtype};

    coll_nodes_leads(c, coll_nodes_team(c, a->rank, &node), &leads);
    int rc = collect(self, c, a, &node);
    for (int step = 0; !node.me && step < leads.n - 1; step++)
        rc |= pass(self, c, a, &leads, (leads.me + leads.n - step) % leads.n,
                   (leads.me + leads.n - step - 1) % leads.n);
    return rc | coll_team_bcast(self, c, &node, 0, &all, MPI_TAG_ALLGATHER);
}
