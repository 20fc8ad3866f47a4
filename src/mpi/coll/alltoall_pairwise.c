/*
 * All-to-all by pairwise exchange: P - 1 steps; in step i a rank sends to the rank i after it and
 * receives from the rank i before it (a power of two of ranks: both are rank xor i). Cost: (P - 1)
 * * (alpha + n beta) for blocks of n bytes, one message in each direction at a time, so links are
 * shared fairly. Best for long blocks. Serves alltoall, alltoallv and alltoallw.
 */
#include "mpi/coll/coll_internal.h"

/* A step; no message where the block is empty. */
static int exchange(struct mpi_rank *self, struct mpi_comm *c, const struct mpi_coll_args *a,
                    int dst, int src, int tag)
{
    struct coll_block out = coll_send_block(a, dst), in = coll_recv_block(a, src);

    if (!coll_block_bytes(&out))
        dst = -1;
    if (!coll_block_bytes(&in))
        src = -1;
    if (dst < 0 && src < 0)
        return MPI_SUCCESS;
    if (dst < 0)
        return mpi_coll_recv(self, c, in.buf, in.count, in.type, src, tag);
    if (src < 0)
        return mpi_coll_send(self, c, out.buf, out.count, out.type, dst, tag);
    return mpi_coll_sendrecv(self, c, out.buf, out.count, out.type, dst, in.buf, in.count, in.type,
                             src, tag);
}

static int run(struct mpi_rank *self, struct mpi_comm *c, const struct mpi_coll_args *a, int tag)
{
    struct coll_block from = coll_send_block(a, a->rank), to = coll_recv_block(a, a->rank);
    int rc = coll_copy_block(&from, &to);

    for (int i = 1; i < a->size; i++) {
        if (coll_is_pow2(a->size))
            rc |= exchange(self, c, a, a->rank ^ i, a->rank ^ i, tag);
        else
            rc |= exchange(self, c, a, coll_after(a, a->rank, i), coll_before(a, a->rank, i), tag);
    }
    return rc;
}

int coll_alltoall_pairwise(struct mpi_rank *self, struct mpi_comm *c, const struct mpi_coll_args *a)
{
    return run(self, c, a, MPI_TAG_ALLTOALL);
}

int coll_alltoallv_pairwise(struct mpi_rank *self, struct mpi_comm *c,
                            const struct mpi_coll_args *a)
{
    return run(self, c, a, MPI_TAG_ALLTOALLV);
}

int coll_alltoallw_pairwise(struct mpi_rank *self, struct mpi_comm *c,
                            const struct mpi_coll_args *a)
{
    return run(self, c, a, MPI_TAG_ALLTOALLW);
}
