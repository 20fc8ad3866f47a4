/*
 * Allgather by Bruck's algorithm (Bruck et al. 1997), for any number of ranks.
 *
 * A rank gathers packed blocks in the order rank, rank + 1, ... (around the ring): in round k it
 * sends all it has (at most what is missing) to the rank 2^k before it and appends what it gets
 * from the rank 2^k after it. Cost: ceil(log2 P) * alpha + n beta (P - 1) / P for n bytes in all,
 * plus a copy to rotate the blocks into place.
 */
#include "mpi/coll/coll_internal.h"

/* Bytes of the n blocks from `first` on, around the ring. */
static uint64_t ring_bytes(const struct mpi_coll_args *a, int first, int n)
{
    if (a->op_id == MPI_COLL_allgather)
        return (uint64_t)n * a->rcount * a->rtype->size;
    uint64_t sum = 0;
    for (int i = 0; i < n; i++)
        sum += coll_count(a, a->rcounts, coll_after(a, first, i));
    return sum * a->rtype->size;
}

/* My own block to the start of the stream. */
static int pack_own(const struct mpi_coll_args *a, char *tmp)
{
    struct coll_block own = coll_recv_block(a, a->rank);

    if (a->sbuf != MPI_IN_PLACE) {
        struct coll_block from = coll_send_block(a, a->rank);
        int rc = coll_copy_block(&from, &own);
        if (rc)
            return rc;
    }
    mpi_type_pack(own.type, own.count, own.buf, tmp);
    return MPI_SUCCESS;
}

static void unpack_others(const struct mpi_coll_args *a, const char *in)
{
    in += ring_bytes(a, a->rank, 1);
    for (int step = 1; step < a->size; step++) {
        struct coll_block b = coll_recv_block(a, coll_after(a, a->rank, step));
        in += mpi_type_unpack(b.type, b.count, b.buf, in, coll_block_bytes(&b));
    }
}

static int run(struct mpi_rank *self, struct mpi_comm *c, const struct mpi_coll_args *a, int tag)
{
    char *tmp = coll_bytes_alloc(a, ring_bytes(a, 0, a->size));
    int rc = pack_own(a, tmp);

    for (int have = 1; have < a->size; have <<= 1) {
        int n = coll_min(have, a->size - have), from = coll_after(a, a->rank, have);
        rc |= mpi_coll_sendrecv(self, c, tmp, ring_bytes(a, a->rank, n), coll_byte(),
                                coll_before(a, a->rank, have), tmp + ring_bytes(a, a->rank, have),
                                ring_bytes(a, from, n), coll_byte(), from, tag);
    }
    if (!rc)
        unpack_others(a, tmp);
    coll_bytes_free(tmp);
    return rc;
}

int coll_allgather_bruck(struct mpi_rank *self, struct mpi_comm *c, const struct mpi_coll_args *a)
{
    return run(self, c, a, MPI_TAG_ALLGATHER);
}

int coll_allgatherv_bruck(struct mpi_rank *self, struct mpi_comm *c, const struct mpi_coll_args *a)
{
    return run(self, c, a, MPI_TAG_ALLGATHERV);
}
