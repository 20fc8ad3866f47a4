/*
 * inter_allgather.c - allgather between two groups.
 *
 *     allgather   each group gathers at its rank 0; both then broadcast to the other group
 *     allgatherv  only the receivers know all lengths: rank 0 of each group gathers from the other
 *                 group, the low one first, and broadcasts what it got in its own, packed
 */
#include "mpi/coll/inter.h"

int inter_allgather_gather_bcast(struct mpi_rank *self, struct mpi_comm *c,
                                 const struct mpi_coll_args *a)
{
    uint64_t bytes = a->scount * a->stype->size, total = bytes * (uint64_t)a->size;
    char *all = a->rank == 0 ? coll_bytes_alloc(a, total) : NULL;
    struct inter_swap s = {all, total, coll_byte(), a->rbuf, a->rcount * c->remote->size, a->rtype};
    int rc = mpi_coll_gather(self, c->local, a->sbuf, a->scount, a->stype, all, bytes, coll_byte(),
                             0);

    rc |= inter_swap(self, c, &s, MPI_TAG_ALLGATHER);
    coll_bytes_free(all);
    return rc;
}

/* ---- allgatherv ---- */

static int give(struct mpi_rank *self, struct mpi_comm *c, const struct mpi_coll_args *a)
{
    if (a->scount * a->stype->size == 0)
        return MPI_SUCCESS;
    return mpi_coll_send(self, c, a->sbuf, a->scount, a->stype, 0, MPI_TAG_ALLGATHERV);
}

static int take(struct mpi_rank *self, struct mpi_comm *c, const struct mpi_coll_args *a)
{
    return a->rank ? MPI_SUCCESS : inter_receive_all(self, c, a, MPI_TAG_ALLGATHERV);
}

static void pack_blocks(const struct mpi_coll_args *a, uint32_t n, char *out)
{
    for (uint32_t i = 0; i < n; i++) {
        struct coll_block b = coll_recv_block(a, (int)i);
        out += mpi_type_pack(b.type, b.count, b.buf, out);
    }
}

static void unpack_blocks(const struct mpi_coll_args *a, uint32_t n, const char *in)
{
    for (uint32_t i = 0; i < n; i++) {
        struct coll_block b = coll_recv_block(a, (int)i);
        mpi_type_unpack(b.type, b.count, b.buf, in, coll_block_bytes(&b));
        in += coll_block_bytes(&b);
    }
}

/* Sends what rank 0 has received to the others of its group. */
static int share(struct mpi_rank *self, struct mpi_comm *c, const struct mpi_coll_args *a)
{
    uint64_t total = 0;
    uint32_t n = c->remote->size;

    if (a->size == 1)
        return MPI_SUCCESS;
    for (uint32_t i = 0; i < n; i++)
        total += coll_count(a, a->rcounts, (int)i) * a->rtype->size;
    char *all = coll_bytes_alloc(a, total);
    if (a->rank == 0)
        pack_blocks(a, n, all);
    int rc = mpi_coll_bcast(self, c->local, all, total, coll_byte(), 0);
    if (!rc && a->rank)
        unpack_blocks(a, n, all);
    coll_bytes_free(all);
    return rc;
}

int inter_allgatherv_gather_bcast(struct mpi_rank *self, struct mpi_comm *c,
                                  const struct mpi_coll_args *a)
{
    int rc = c->high ? give(self, c, a) : take(self, c, a);

    rc |= c->high ? take(self, c, a) : give(self, c, a);
    return rc | share(self, c, a);
}
