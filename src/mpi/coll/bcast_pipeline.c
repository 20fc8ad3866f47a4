/*
 * Broadcast along a chain of ranks root, root + 1, ...: in segments that follow each other
 * (pipeline), or in one piece (chain).
 *
 * Cost for s segments: (P - 2 + s) * (alpha + n/s beta); in one piece (P - 1) * (alpha + n beta).
 * Best for very long messages: every link carries the message once, at the same time.
 */
#include "mpi/coll/coll_internal.h"

static int run(struct mpi_rank *self, struct mpi_comm *c, const struct mpi_coll_args *a,
               uint64_t segment)
{
    int r = coll_before(a, a->rank, a->root), rc = MPI_SUCCESS;
    uint64_t total = a->rcount * a->rtype->size;
    char *bytes = coll_flatten(a);

    for (uint64_t at = 0; at < total; at += segment) {
        uint64_t n = total - at < segment ? total - at : segment;
        if (r)
            rc |= mpi_coll_recv(self, c, bytes + at, n, coll_byte(), coll_before(a, a->rank, 1),
                                MPI_TAG_BCAST);
        if (r < a->size - 1)
            rc |= mpi_coll_send(self, c, bytes + at, rc ? 0 : n, coll_byte(),
                                coll_after(a, a->rank, 1), MPI_TAG_BCAST);
    }
    coll_unflatten(a, bytes, !rc && r);
    return rc;
}

int coll_bcast_pipeline(struct mpi_rank *self, struct mpi_comm *c, const struct mpi_coll_args *a)
{
    return run(self, c, a, COLL_SEGMENT);
}

int coll_bcast_chain(struct mpi_rank *self, struct mpi_comm *c, const struct mpi_coll_args *a)
{
    return run(self, c, a, a->rcount * a->rtype->size);
}
