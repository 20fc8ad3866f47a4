/*
 * Allgather around a ring: P - 1 steps, each passing on the block that came last. Cost: (P - 1) *
 * alpha + n beta (P - 1) / P for n bytes in all, between neighbours only. Best for long messages.
 */
#include "mpi/coll/coll_internal.h"

static int run(struct mpi_rank *self, struct mpi_comm *c, const struct mpi_coll_args *a, int tag)
{
    int rc = MPI_SUCCESS;

    if (a->sbuf != MPI_IN_PLACE) {
        struct coll_block from = coll_send_block(a, a->rank), to = coll_recv_block(a, a->rank);
        rc = coll_copy_block(&from, &to);
    }
    for (int step = 0; step < a->size - 1; step++) {
        struct coll_block out = coll_recv_block(a, coll_before(a, a->rank, step));
        struct coll_block in = coll_recv_block(a, coll_before(a, a->rank, step + 1));
        rc |= mpi_coll_sendrecv(self, c, out.buf, out.count, out.type, coll_after(a, a->rank, 1),
                                in.buf, in.count, in.type, coll_before(a, a->rank, 1), tag);
    }
    return rc;
}

int coll_allgather_ring(struct mpi_rank *self, struct mpi_comm *c, const struct mpi_coll_args *a)
{
    return run(self, c, a, MPI_TAG_ALLGATHER);
}

int coll_allgatherv_ring(struct mpi_rank *self, struct mpi_comm *c, const struct mpi_coll_args *a)
{
    return run(self, c, a, MPI_TAG_ALLGATHERV);
}
