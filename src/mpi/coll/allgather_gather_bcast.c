/*
 * Allgather as a gather to rank 0 and a broadcast of all blocks from it.
 *
 * Cost: for allgather, with binomial trees, 2 ceil(log2 P) * alpha + (P - 1) / P * n beta +
 * ceil(log2 P) * n beta for n bytes in all; for allgatherv the gather is linear: (P - 1) * o more.
 */
#include "mpi/coll/coll_internal.h"

/* The arguments of the gather. */
static struct mpi_coll_args gather_args(const struct mpi_coll_args *a, int op_id)
{
    struct mpi_coll_args part = *a;

    if (a->rank && a->sbuf == MPI_IN_PLACE) {
        struct coll_block own = coll_recv_block(a, a->rank);
        part.sbuf = own.buf;
        part.scount = own.count;
        part.stype = own.type;
    }
    part.op_id = (uint16_t)op_id;
    part.root = 0;
    return part;
}

int coll_allgather_gather_bcast(struct mpi_rank *self, struct mpi_comm *c,
                                const struct mpi_coll_args *a)
{
    struct mpi_coll_args part = gather_args(a, MPI_COLL_gather);
    int rc = coll_gather_binomial(self, c, &part);

    part.op_id = MPI_COLL_bcast;
    part.rcount = a->rcount * (uint64_t)a->size;
    return rc | coll_bcast_binomial(self, c, &part);
}

/* All blocks in rank order to the stream, or from it. */
static uint64_t move_all(const struct mpi_coll_args *a, char *bytes, int unpack)
{
    char *at = bytes;

    for (int i = 0; i < a->size; i++) {
        struct coll_block b = coll_recv_block(a, i);
        at = unpack && i == a->rank ? at + coll_block_bytes(&b) : coll_move_block(a, i, at, unpack);
    }
    return (uint64_t)(at - bytes);
}

int coll_allgatherv_gather_bcast(struct mpi_rank *self, struct mpi_comm *c,
                                 const struct mpi_coll_args *a)
{
    struct mpi_coll_args part = gather_args(a, MPI_COLL_gatherv);
    int rc = coll_gatherv_linear(self, c, &part);
    uint64_t bytes = 0;

    if (a->rank)
        rc |= coll_copy_own(a);
    for (int i = 0; i < a->size; i++)
        bytes += coll_count(a, a->rcounts, i);
    bytes *= a->rtype->size;
    struct coll_block all = {coll_bytes_alloc(a, bytes), bytes, coll_byte()};
    if (!a->rank)
        move_all(a, all.buf, 0);
    struct coll_team team = {.n = a->size, .me = a->rank};
    rc |= coll_team_bcast(self, c, &team, 0, &all, MPI_TAG_ALLGATHERV);
    if (!rc && a->rank)
        move_all(a, all.buf, 1);
    coll_bytes_free(all.buf);
    return rc;
}
