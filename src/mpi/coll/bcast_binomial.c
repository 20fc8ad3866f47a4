/*
 * Broadcast down a binomial tree.
 *
 * With r = rank - root mod P, a rank receives from r without its lowest bit, and sends to r plus
 * each lower power of two, the largest subtree first. Cost: ceil(log2 P) * (alpha + n beta); P - 1
 * messages in all. Best for short messages. A rank that received something unexpected passes on
 * nothing, so that the ranks below it notice, too.
 */
#include "mpi/coll/coll_internal.h"

int coll_bcast_binomial(struct mpi_rank *self, struct mpi_comm *c, const struct mpi_coll_args *a)
{
    int r = coll_before(a, a->rank, a->root), mask = 1, rc = MPI_SUCCESS;

    while (mask < a->size && !(r & mask))
        mask <<= 1;
    if (r)
        rc |= mpi_coll_recv(self, c, a->rbuf, a->rcount, a->rtype, coll_before(a, a->rank, mask),
                            MPI_TAG_BCAST);
    while (mask >>= 1) {
        if (mask >= a->size - coll_before(a, a->rank, a->root))
            continue;
        rc |= mpi_coll_send(self, c, a->rbuf, rc ? 0 : a->rcount, a->rtype,
                            coll_after(a, a->rank, mask), MPI_TAG_BCAST);
    }
    return rc;
}
