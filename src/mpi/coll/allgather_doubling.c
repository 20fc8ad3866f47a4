/*
 * Allgather by recursive doubling, for a power of two of ranks.
 *
 * In round k ranks that differ in bit k exchange the 2^k blocks they hold. Cost: log2 P * alpha + n
 * beta (P - 1) / P for n bytes in all. Blocks may be equal (allgather) or of any length
 * (allgatherv); there the blocks need not be adjacent in the buffer, so they are packed.
 */
#include "mpi/coll/coll_internal.h"

static int copy_own(const struct mpi_coll_args *a)
{
    if (a->sbuf == MPI_IN_PLACE)
        return MPI_SUCCESS;
    struct coll_block from = coll_send_block(a, a->rank), to = coll_recv_block(a, a->rank);
    return coll_copy_block(&from, &to);
}

int coll_allgather_recursive_doubling(struct mpi_rank *self, struct mpi_comm *c,
                                      const struct mpi_coll_args *a)
{
    int rc = copy_own(a);

    for (int mask = 1; mask < a->size; mask <<= 1) {
        struct coll_block mine = coll_recv_block(a, a->rank & -mask);
        struct coll_block theirs = coll_recv_block(a, (a->rank & -mask) ^ mask);
        rc |= mpi_coll_sendrecv(self, c, mine.buf, mine.count * (uint64_t)mask, mine.type,
                                a->rank ^ mask, theirs.buf, theirs.count * (uint64_t)mask,
                                theirs.type, a->rank ^ mask, MPI_TAG_ALLGATHER);
    }
    return rc;
}

/* Bytes of the blocks [first, first + n). */
static uint64_t run_bytes(const struct mpi_coll_args *a, int first, int n)
{
    uint64_t sum = 0;
    for (int i = first; i < first + n; i++)
        sum += coll_count(a, a->rcounts, i);
    return sum * a->rtype->size;
}

/* Packed stream: the blocks in rank order. Unpacks all but my own, which is in place already. */
static void unpack_all(const struct mpi_coll_args *a, const char *in)
{
    for (int i = 0; i < a->size; i++) {
        struct coll_block b = coll_recv_block(a, i);
        if (i != a->rank)
            mpi_type_unpack(b.type, b.count, b.buf, in, coll_block_bytes(&b));
        in += coll_block_bytes(&b);
    }
}

int coll_allgatherv_recursive_doubling(struct mpi_rank *self, struct mpi_comm *c,
                                       const struct mpi_coll_args *a)
{
    int rc = copy_own(a);
    char *tmp = coll_bytes_alloc(a, run_bytes(a, 0, a->size));
    struct coll_block own = coll_recv_block(a, a->rank);

    mpi_type_pack(own.type, own.count, own.buf, tmp + run_bytes(a, 0, a->rank));
    for (int mask = 1; mask < a->size; mask <<= 1) {
        int mine = a->rank & -mask, theirs = mine ^ mask;
        rc |= mpi_coll_sendrecv(self, c, tmp + run_bytes(a, 0, mine), run_bytes(a, mine, mask),
                                coll_byte(), a->rank ^ mask, tmp + run_bytes(a, 0, theirs),
                                run_bytes(a, theirs, mask), coll_byte(), a->rank ^ mask,
                                MPI_TAG_ALLGATHERV);
    }
    if (!rc)
        unpack_all(a, tmp);
    coll_bytes_free(tmp);
    return rc;
}
