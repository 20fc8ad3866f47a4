/*
 * All-to-all by Bruck's algorithm (Bruck et al. 1997), for short blocks.
 *
 * Packed blocks are ordered by distance: slot d starts as my block for rank + d. In round k all
 * slots with bit k set move 2^k ranks on, so slot d travels d ranks in all and ends as the block
 * from rank - d for me. Cost: ceil(log2 P) * (alpha + n/2 beta) for n bytes per rank, against
 * P - 1 messages of the direct algorithms.
 */
#include "mpi/coll/coll_internal.h"

/* Moves the slots with the bit set between `slots` and a dense stream; returns the bytes. */
static uint64_t move_slots(char *slots, char *stream, uint64_t nb, int size, int bit, int collect)
{
    char *at = stream;

    for (int d = bit; d < size; d++) {
        if (!(d & bit))
            continue;
        if (collect && !mpi_is_hollow(at))
            __builtin_memcpy(at, slots + (uint64_t)d * nb, nb);
        else if (!mpi_is_hollow(at))
            __builtin_memcpy(slots + (uint64_t)d * nb, at, nb);
        at += nb;
    }
    return (uint64_t)(at - stream);
}

static void unpack_slots(const struct mpi_coll_args *a, const char *slots)
{
    for (int d = 0; d < a->size; d++) {
        struct coll_block b = coll_recv_block(a, coll_before(a, a->rank, d));
        slots += mpi_type_unpack(b.type, b.count, b.buf, slots, coll_block_bytes(&b));
    }
}

int coll_alltoall_bruck(struct mpi_rank *self, struct mpi_comm *c, const struct mpi_coll_args *a)
{
    uint64_t nb = a->rcount * a->rtype->size, half = nb * (((uint64_t)a->size + 1) / 2);
    char *slots = coll_bytes_alloc(a, nb * (uint64_t)a->size + 2 * half);
    int rc = a->scount * a->stype->size == nb ? MPI_SUCCESS : MPI_ERR_TRUNCATE;

    if (!rc)
        coll_pack_ring(a, a->sbuf, a->scount, a->stype, a->rank, a->size, slots);
    for (int bit = 1; bit < a->size; bit <<= 1) {
        char *out = slots + nb * (uint64_t)a->size, *in = out + half;
        uint64_t bytes = move_slots(slots, out, nb, a->size, bit, 1);
        rc |= mpi_coll_sendrecv(self, c, out, bytes, coll_byte(), coll_after(a, a->rank, bit), in,
                                bytes, coll_byte(), coll_before(a, a->rank, bit), MPI_TAG_ALLTOALL);
        if (!rc)
            move_slots(slots, in, nb, a->size, bit, 0);
    }
    if (!rc)
        unpack_slots(a, slots);
    coll_bytes_free(slots);
    return rc;
}
