/*
 * Allreduce around a ring: reduce-scatter, then allgather, of P pieces of the items, each piece
 * going around the ring once to be folded and once to be distributed.
 *
 * Cost: 2 (P - 1) * alpha + 2 n beta (P - 1) / P + n gamma (P - 1) / P, between neighbours only.
 * Best for long messages. Pieces fold in the order of the ring: commutative operations.
 */
#include "mpi/coll/coll_internal.h"

/* First item of a piece: the first (count mod P) pieces have one item more. */
static uint64_t piece_start(const struct mpi_coll_args *a, int piece)
{
    uint64_t n = (uint64_t)a->size, i = (uint64_t)piece, extra = a->rcount % n;
    return i * (a->rcount / n) + (i < extra ? i : extra);
}
static uint64_t piece_items(const struct mpi_coll_args *a, int piece)
{
    return piece_start(a, piece + 1) - piece_start(a, piece);
}
static void *piece_at(const struct mpi_coll_args *a, int piece)
{
    return coll_at(a->rbuf, (int64_t)piece_start(a, piece), a->rtype);
}

static int pass(struct mpi_rank *self, struct mpi_comm *c, const struct mpi_coll_args *a, int out,
                int in, void *to)
{
    return mpi_coll_sendrecv(self, c, piece_at(a, out), piece_items(a, out), a->rtype,
                             coll_after(a, a->rank, 1), to, piece_items(a, in), a->rtype,
                             coll_before(a, a->rank, 1), MPI_TAG_ALLREDUCE);
}

int coll_allreduce_ring(struct mpi_rank *self, struct mpi_comm *c, const struct mpi_coll_args *a)
{
    void *tmp = coll_items_alloc(a, a->rtype, piece_items(a, 0));
    int rc = MPI_SUCCESS;

    if (a->sbuf != MPI_IN_PLACE)
        coll_copy(a->sbuf, a->rbuf, a->rcount, a->rtype);
    for (int step = 0; step < a->size - 1; step++) {
        int out = coll_before(a, a->rank, step), in = coll_before(a, a->rank, step + 1);
        rc |= pass(self, c, a, out, in, tmp);
        if (!rc)
            rc = coll_fold(a, piece_at(a, in), tmp, piece_items(a, in), 1);
    }
    coll_items_free(tmp, a->rtype, piece_items(a, 0));
    for (int step = 0; step < a->size - 1; step++) {
        int out = coll_before(a, coll_after(a, a->rank, 1), step);
        int in = coll_before(a, a->rank, step);
        rc |= pass(self, c, a, out, in, piece_at(a, in));
    }
    return rc;
}
