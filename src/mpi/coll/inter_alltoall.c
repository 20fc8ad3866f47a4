/*
 * inter_alltoall.c - all-to-all between two groups by pairwise exchange: in step i rank r sends to
 * remote rank r + i and receives from r - i, modulo the size of the larger group; where there is no
 * such rank, it does only the other. Cost: max(P, Q) * (alpha + n beta) for blocks of n bytes.
 * Empty blocks are not sent.
 */
#include "mpi/coll/inter.h"

/* One step; dst or src may be beyond the remote group. */
static int step(struct mpi_rank *self, struct mpi_comm *c, const struct mpi_coll_args *a, int dst,
                int src, int tag)
{
    struct coll_block none = {NULL, 0, coll_byte()}, out = none, in = none;

    if (dst < (int)c->remote->size)
        out = coll_send_block(a, dst);
    if (src < (int)c->remote->size)
        in = coll_recv_block(a, src);
    if (coll_block_bytes(&out) && coll_block_bytes(&in))
        return mpi_coll_sendrecv(self, c, out.buf, out.count, out.type, dst, in.buf, in.count,
                                 in.type, src, tag);
    if (coll_block_bytes(&out))
        return mpi_coll_send(self, c, out.buf, out.count, out.type, dst, tag);
    if (coll_block_bytes(&in))
        return mpi_coll_recv(self, c, in.buf, in.count, in.type, src, tag);
    return MPI_SUCCESS;
}

static int run(struct mpi_rank *self, struct mpi_comm *c, const struct mpi_coll_args *a, int tag)
{
    int64_t n = a->size > (int)c->remote->size ? a->size : (int64_t)c->remote->size;
    int rc = MPI_SUCCESS;

    for (int64_t i = 0; i < n; i++)
        rc |= step(self, c, a, (int)((a->rank + i) % n), (int)((a->rank + n - i) % n), tag);
    return rc;
}

int inter_alltoall_pairwise(struct mpi_rank *self, struct mpi_comm *c,
                            const struct mpi_coll_args *a)
{
    return run(self, c, a, MPI_TAG_ALLTOALL);
}

int inter_alltoallv_pairwise(struct mpi_rank *self, struct mpi_comm *c,
                             const struct mpi_coll_args *a)
{
    return run(self, c, a, MPI_TAG_ALLTOALLV);
}

int inter_alltoallw_pairwise(struct mpi_rank *self, struct mpi_comm *c,
                             const struct mpi_coll_args *a)
{
    return run(self, c, a, MPI_TAG_ALLTOALLW);
}
