/*
 * All-to-all by direct messages, COLL_WINDOW at a time, each rank starting with its own neighbours
 * so that no rank is everybody's first target. Cost: (P - 1) * (alpha + n beta) for blocks of n
 * bytes, with COLL_WINDOW latencies overlapping. Serves alltoall, alltoallv and alltoallw; empty
 * blocks are not sent.
 */
#include "mpi/coll/coll_internal.h"

/* Starts the exchanges at the distances [from, to); returns the number of requests. */
static uint32_t start_window(struct mpi_rank *self, struct mpi_comm *c,
                             const struct mpi_coll_args *a, struct mpi_req *reqs, int from, int to,
                             int tag)
{
    uint32_t n = 0;

    for (int d = from; d < to; d++) {
        int src = coll_after(a, a->rank, d);
        struct coll_block b = coll_recv_block(a, src);
        if (coll_block_bytes(&b))
            mpi_coll_irecv(self, c, &reqs[n++], b.buf, b.count, b.type, src, tag);
    }
    for (int d = from; d < to; d++) {
        int dst = coll_before(a, a->rank, d);
        struct coll_block b = coll_send_block(a, dst);
        if (coll_block_bytes(&b))
            mpi_coll_isend(self, c, &reqs[n++], b.buf, b.count, b.type, dst, tag);
    }
    return n;
}

static int copy_own(const struct mpi_coll_args *a)
{
    struct coll_block from = coll_send_block(a, a->rank), to = coll_recv_block(a, a->rank);
    return coll_copy_block(&from, &to);
}

static int run(struct mpi_rank *self, struct mpi_comm *c, const struct mpi_coll_args *a, int tag)
{
    size_t window = (size_t)coll_min(a->size - 1, COLL_WINDOW);
    struct mpi_req *reqs = (struct mpi_req *)mem_alloc(2 * window * sizeof *reqs);
    int rc = copy_own(a);

    for (int d = 1; d < a->size; d += COLL_WINDOW)
        rc |= mpi_p2p_waitall(self, reqs,
                              start_window(self, c, a, reqs, d,
                                           d + coll_min(COLL_WINDOW, a->size - d), tag));
    mem_free(reqs);
    return rc;
}

int coll_alltoall_spread(struct mpi_rank *self, struct mpi_comm *c, const struct mpi_coll_args *a)
{
    return run(self, c, a, MPI_TAG_ALLTOALL);
}

int coll_alltoallv_spread(struct mpi_rank *self, struct mpi_comm *c, const struct mpi_coll_args *a)
{
    return run(self, c, a, MPI_TAG_ALLTOALLV);
}

int coll_alltoallw_spread(struct mpi_rank *self, struct mpi_comm *c, const struct mpi_coll_args *a)
{
    return run(self, c, a, MPI_TAG_ALLTOALLW);
}
