/*
 * Barrier by recursive doubling: ranks that differ in bit k exchange signals in round k. If P is no
 * power of two, one of each of the first pairs of neighbours continues for both.
 *
 * Cost: log2 P * alpha for P a power of two, else at most (floor(log2 P) + 2) * alpha.
 */
#include "mpi/coll/coll_internal.h"

int coll_barrier_recursive_doubling(struct mpi_rank *self, struct mpi_comm *c,
                                    const struct mpi_coll_args *a)
{
    struct mpi_coll_args place = {.rank = mpi_comm_my_rank(c, self), .size = (int)c->group->size};
    struct coll_pow2 p;
    int rc = MPI_SUCCESS;

    (void)a;
    coll_pow2_init(&p, &place);
    if (p.me < 0) {
        rc = coll_signal(self, c, place.rank + 1);
        return rc ? rc : coll_await(self, c, place.rank + 1);
    }
    if (p.me < p.rem)
        rc = coll_await(self, c, place.rank - 1);
    for (int mask = 1; mask < p.pow2 && !rc; mask <<= 1) {
        int peer = coll_pow2_rank(&p, p.me ^ mask);
        rc = coll_signal(self, c, peer);
        if (!rc)
            rc = coll_await(self, c, peer);
    }
    if (!rc && p.me < p.rem)
        rc = coll_signal(self, c, place.rank - 1);
    return rc;
}
