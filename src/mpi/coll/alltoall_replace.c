/*
 * All-to-all with MPI_IN_PLACE: every pair of ranks swaps its blocks, in the order of pairs (0,1),
 * (0,2), ..., (1,2), ..., in which no cycle of waits can form. A block is packed into a buffer,
 * sent, and replaced by what arrives. Cost: up to (2P - 3) * (alpha + n beta) for blocks of n
 * bytes; memory of one block. Serves alltoall, alltoallv and alltoallw; the block to a rank is as
 * long as the one from it, so empty blocks are skipped on both sides.
 */
#include "mpi/coll/coll_internal.h"

static int swap_block(struct mpi_rank *self, struct mpi_comm *c, const struct mpi_coll_args *a,
                      int peer, int tag)
{
    struct coll_block b = coll_recv_block(a, peer);
    uint64_t bytes = coll_block_bytes(&b);

    if (!bytes)
        return MPI_SUCCESS;
    char *tmp = coll_bytes_alloc(a, bytes);
    uint64_t items = b.count;
    struct mpi_type *type = mpi_type_of_packed(b.type, &items);
    mpi_type_pack(b.type, b.count, b.buf, tmp);
    int rc = mpi_coll_sendrecv(self, c, tmp, items, type, peer, b.buf, b.count, b.type, peer, tag);
    coll_bytes_free(tmp);
    return rc;
}

static int run(struct mpi_rank *self, struct mpi_comm *c, const struct mpi_coll_args *a, int tag)
{
    int rc = MPI_SUCCESS;

    for (int peer = 0; peer < a->size; peer++)
        if (peer != a->rank)
            rc |= swap_block(self, c, a, peer, tag);
    return rc;
}

int coll_alltoall_replace(struct mpi_rank *self, struct mpi_comm *c, const struct mpi_coll_args *a)
{
    return run(self, c, a, MPI_TAG_ALLTOALL);
}

int coll_alltoallv_replace(struct mpi_rank *self, struct mpi_comm *c, const struct mpi_coll_args *a)
{
    return run(self, c, a, MPI_TAG_ALLTOALLV);
}

int coll_alltoallw_replace(struct mpi_rank *self, struct mpi_comm *c, const struct mpi_coll_args *a)
{
    return run(self, c, a, MPI_TAG_ALLTOALLW);
}
