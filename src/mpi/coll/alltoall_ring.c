/*
 * All-to-all around a ring: every rank sends all its blocks to the rank after it, nearest
 * destination first; a rank takes the first block of what it gets and passes on the rest.
 *
 * Cost for blocks of n bytes: (P - 1) * alpha + P (P - 1) / 2 * n beta, between neighbours only:
 * blocks travel far, so this is useful only where just neighbours are connected.
 */
#include "mpi/coll/coll_internal.h"

int coll_alltoall_ring(struct mpi_rank *self, struct mpi_comm *c, const struct mpi_coll_args *a)
{
    uint64_t nb = a->rcount * a->rtype->size, all = nb * (uint64_t)(a->size - 1);
    int rc = coll_copy_own(a);

    if (rc || a->scount * a->stype->size != nb)
        return MPI_ERR_TRUNCATE;
    char *memory = coll_bytes_alloc(a, 2 * all), *out = memory, *in = memory + all;
    coll_pack_ring(a, a->sbuf, a->scount, a->stype, coll_after(a, a->rank, 1), a->size - 1, out);
    for (int step = 1; step < a->size; step++) {
        struct coll_block b = coll_recv_block(a, coll_before(a, a->rank, step));
        uint64_t bytes = nb * (uint64_t)(a->size - step);
        rc |= mpi_coll_sendrecv(self, c, out, bytes, coll_byte(), coll_after(a, a->rank, 1), in,
                                bytes, coll_byte(), coll_before(a, a->rank, 1), MPI_TAG_ALLTOALL);
        if (!rc)
            mpi_type_unpack(b.type, b.count, b.buf, in, nb);
        char *rest = in + nb;
        in = out;
        out = rest;
    }
    coll_bytes_free(memory);
    return rc;
}
