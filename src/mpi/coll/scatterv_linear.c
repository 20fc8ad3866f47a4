/*
 * Scatter of blocks of any length: the root sends to every rank in rank order with COLL_WINDOW
 * sends in flight. Only the root knows the lengths, so no tree is possible without a further
 * exchange. Cost at the root: (P - 1) * alpha + n beta. Empty blocks are not sent.
 */
#include "mpi/coll/coll_internal.h"

/* Starts sends to the ranks from *next on, at most COLL_WINDOW; returns how many. */
static uint32_t send_window(struct mpi_rank *self, struct mpi_comm *c,
                            const struct mpi_coll_args *a, struct mpi_req *reqs, int *next)
{
    uint32_t n = 0;

    for (; *next < a->size && n < COLL_WINDOW; ++*next) {
        struct coll_block b = coll_send_block(a, *next);
        if (*next != a->rank && coll_block_bytes(&b))
            mpi_coll_isend(self, c, &reqs[n++], b.buf, b.count, b.type, *next, MPI_TAG_SCATTERV);
    }
    return n;
}

static int run_root(struct mpi_rank *self, struct mpi_comm *c, const struct mpi_coll_args *a)
{
    struct mpi_req *reqs = (struct mpi_req *)mem_alloc((size_t)coll_min(a->size, COLL_WINDOW) *
                                                       sizeof *reqs);
    int rc = MPI_SUCCESS;

    if (a->rbuf != MPI_IN_PLACE) {
        struct coll_block from = coll_send_block(a, a->rank), to = coll_recv_block(a, a->rank);
        rc = coll_copy_block(&from, &to);
    }
    for (int next = 0; next < a->size;)
        rc |= mpi_p2p_waitall(self, reqs, send_window(self, c, a, reqs, &next));
    mem_free(reqs);
    return rc;
}

int coll_scatterv_linear(struct mpi_rank *self, struct mpi_comm *c, const struct mpi_coll_args *a)
{
    if (a->rank == a->root)
        return run_root(self, c, a);
    if (a->rcount * a->rtype->size == 0)
        return MPI_SUCCESS;
    return mpi_coll_recv(self, c, a->rbuf, a->rcount, a->rtype, a->root, MPI_TAG_SCATTERV);
}
