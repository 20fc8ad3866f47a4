/*
 * Barrier up and down a binomial tree: a rank waits for its children, signals its parent, waits for
 * it and signals its children.
 *
 * Cost: 2 ceil(log2 P) * alpha; 2 (P - 1) messages in all, the fewest of all barriers.
 */
#include "mpi/coll/coll_internal.h"

int coll_barrier_binomial(struct mpi_rank *self, struct mpi_comm *c, const struct mpi_coll_args *a)
{
    struct coll_team all = {.n = (int)c->group->size, .me = mpi_comm_my_rank(c, self)};

    (void)a;
    int rc = coll_team_collect(self, c, &all);
    return rc ? rc : coll_team_release(self, c, &all);
}
