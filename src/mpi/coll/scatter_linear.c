/*
 * Linear scatter: the root sends every rank its block in rank order, with COLL_WINDOW sends in
 * flight.
 *
 * Cost: alpha + (P - 1) * (o + n beta) at the root for blocks of n bytes; no block is sent twice.
 */
#include "mpi/coll/coll_internal.h"

/* Starts sends to the ranks from *next on, at most COLL_WINDOW; returns how many. */
static uint32_t send_window(struct mpi_rank *self, struct mpi_comm *c,
                            const struct mpi_coll_args *a, struct mpi_req *reqs, int *next)
{
    uint32_t n = 0;

    for (; *next < a->size && n < COLL_WINDOW; ++*next) {
        struct coll_block b = coll_send_block(a, *next);
        if (*next != a->rank)
            mpi_coll_isend(self, c, &reqs[n++], b.buf, b.count, b.type, *next, MPI_TAG_SCATTER);
    }
    return n;
}

int coll_scatter_linear(struct mpi_rank *self, struct mpi_comm *c, const struct mpi_coll_args *a)
{
    if (a->rank != a->root)
        return mpi_coll_recv(self, c, a->rbuf, a->rcount, a->rtype, a->root, MPI_TAG_SCATTER);
    struct mpi_req *reqs = (struct mpi_req *)mem_alloc((size_t)coll_min(a->size, COLL_WINDOW) *
                                                       sizeof *reqs);
    int rc = coll_copy_own(a);
    for (int next = 0; next < a->size;)
        rc |= mpi_p2p_waitall(self, reqs, send_window(self, c, a, reqs, &next));
    mem_free(reqs);
    return rc;
}
