/*
 * Broadcast down a k-nomial tree, k = 4: with r = rank - root mod P in base k, a rank receives from
 * r without its lowest digit that is not 0, and sends to r plus 1 to k - 1 times each lower power
 * of k, the largest first.
 *
 * Cost: ceil(log_k P) * (alpha + (k - 2) o + n beta): fewer levels than a binomial tree, each with
 * more sends in a row.
 */
#include "mpi/coll/coll_internal.h"

enum { RADIX = 4 };

int coll_bcast_knomial(struct mpi_rank *self, struct mpi_comm *c, const struct mpi_coll_args *a)
{
    int r = coll_before(a, a->rank, a->root), rc = MPI_SUCCESS;
    int64_t mask = 1;

    while (mask < a->size && !(r / mask % RADIX))
        mask *= RADIX;
    if (r)
        rc |= mpi_coll_recv(self, c, a->rbuf, a->rcount, a->rtype,
                            coll_after(a, (int)(r - r % (mask * RADIX)), a->root), MPI_TAG_BCAST);
    for (mask /= RADIX; mask; mask /= RADIX)
        for (int digit = 1; digit < RADIX && r + digit * mask < a->size; digit++)
            rc |= mpi_coll_send(self, c, a->rbuf, rc ? 0 : a->rcount, a->rtype,
                                coll_after(a, (int)(r + digit * mask), a->root), MPI_TAG_BCAST);
    return rc;
}
