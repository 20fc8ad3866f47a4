/*
 * Tournament barrier (Hensgen, Finkel and Manber 1988).
 *
 * In round k the winners of round k - 1 meet in pairs, 2^k ranks apart: the higher one signals the
 * lower one and drops out; the lower one continues. The champion, rank 0, then wakes all ranks
 * itself. Cost: (ceil(log2 P) + 1) * alpha + (P - 1) o.
 */
#include "mpi/coll/coll_internal.h"

int coll_barrier_tournament(struct mpi_rank *self, struct mpi_comm *c,
                            const struct mpi_coll_args *a)
{
    struct coll_team all = {.n = (int)c->group->size, .me = mpi_comm_my_rank(c, self)};
    int rc = coll_team_collect(self, c, &all);

    (void)a;
    if (rc || all.me)
        return rc ? rc : coll_await(self, c, 0);
    for (int i = 1; i < all.n && !rc; i++)
        rc = coll_signal(self, c, i);
    return rc;
}
