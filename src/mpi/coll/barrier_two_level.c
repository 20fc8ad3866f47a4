/*
 * Barrier in two levels: the ranks of a node meet at its first rank, these disseminate signals
 * among themselves, and each releases its node.
 *
 * Cost, for N nodes of R ranks: 2 ceil(log2 R) * alpha inside the nodes + ceil(log2 N) * alpha
 * between them.
 */
#include "mpi/coll/coll_internal.h"

int coll_barrier_two_level(struct mpi_rank *self, struct mpi_comm *c, const struct mpi_coll_args *a)
{
    struct coll_team node, leads;
    int rc;

    (void)a;
    coll_nodes_leads(c, coll_nodes_team(c, mpi_comm_my_rank(c, self), &node), &leads);
    rc = coll_team_collect(self, c, &node);
    for (int distance = 1; !node.me && distance < leads.n && !rc; distance <<= 1) {
        rc = coll_signal(self, c, coll_team_rank(&leads, (leads.me + distance) % leads.n));
        if (!rc)
            rc = coll_await(self, c,
                            coll_team_rank(&leads, (leads.me + leads.n - distance) % leads.n));
    }
    return rc ? rc : coll_team_release(self, c, &node);
}
