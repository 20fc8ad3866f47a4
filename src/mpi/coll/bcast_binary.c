/*
 * Broadcast down a complete binary tree: with r = rank - root mod P, the children of r are 2r + 1
 * and 2r + 2.
 *
 * Cost: about 2 log2 P * (alpha + n beta) where a rank's two sends follow each other, log2 P of
 * them where they overlap.
 */
#include "mpi/coll/coll_internal.h"

int coll_bcast_binary(struct mpi_rank *self, struct mpi_comm *c, const struct mpi_coll_args *a)
{
    int r = coll_before(a, a->rank, a->root), rc = MPI_SUCCESS;

    if (r)
        rc |= mpi_coll_recv(self, c, a->rbuf, a->rcount, a->rtype,
                            coll_after(a, (r - 1) / 2, a->root), MPI_TAG_BCAST);
    for (int64_t child = 2 * (int64_t)r + 1; child <= 2 * (int64_t)r + 2; child++)
        if (child < a->size)
            rc |= mpi_coll_send(self, c, a->rbuf, rc ? 0 : a->rcount, a->rtype,
                                coll_after(a, (int)child, a->root), MPI_TAG_BCAST);
    return rc;
}
