/*
 * Linear barrier: every rank signals rank 0, which then signals every rank.
 *
 * Cost: 2 alpha + 2 (P - 1) o at rank 0, which is the bottleneck. Fine for a few ranks.
 */
#include "mpi/coll/coll_internal.h"

int coll_barrier_linear(struct mpi_rank *self, struct mpi_comm *c, const struct mpi_coll_args *a)
{
    int size = (int)c->group->size, rc = MPI_SUCCESS;

    (void)a;
    if (mpi_comm_my_rank(c, self) != 0) {
        rc = coll_signal(self, c, 0);
        return rc ? rc : coll_await(self, c, 0);
    }
    for (int i = 1; i < size && !rc; i++)
        rc = coll_await(self, c, i);
    for (int i = 1; i < size && !rc; i++)
        rc = coll_signal(self, c, i);
    return rc;
}
