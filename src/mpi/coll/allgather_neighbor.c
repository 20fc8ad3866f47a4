/*
 * Allgather by neighbour exchange (Chen et al. 2005), for an even number of ranks.
 *
 * First the ranks of a pair (2i, 2i + 1) exchange their blocks. Then every rank exchanges the last
 * two blocks that it received with its two neighbours, in turn. Cost: P/2 * alpha + n beta (P - 1)
 * / P for n bytes in all: half the steps of a ring. The blocks of a pair are adjacent, except in
 * allgatherv, where they are packed.
 */
#include "mpi/coll/coll_internal.h"

/* Packs the blocks of a pair, or unpacks them. */
static uint64_t move_pair(const struct mpi_coll_args *a, int first, char *bytes, int unpack)
{
    char *at = bytes;

    for (int i = first; i < first + 2; i++)
        at = coll_move_block(a, i, at, unpack);
    return (uint64_t)(at - bytes);
}

static uint64_t pair_bytes(const struct mpi_coll_args *a, int first)
{
    struct coll_block b = coll_recv_block(a, first), next = coll_recv_block(a, first + 1);
    return coll_block_bytes(&b) + coll_block_bytes(&next);
}

/* Sends the pair of blocks `out` and gets the pair `in`. */
static int exchange(struct mpi_rank *self, struct mpi_comm *c, const struct mpi_coll_args *a,
                    int out, int in, int peer)
{
    if (a->op_id == MPI_COLL_allgather) {
        struct coll_block mine = coll_recv_block(a, out), theirs = coll_recv_block(a, in);
        return mpi_coll_sendrecv(self, c, mine.buf, 2 * mine.count, mine.type, peer, theirs.buf,
                                 2 * theirs.count, theirs.type, peer, MPI_TAG_ALLGATHER);
    }
    uint64_t from = pair_bytes(a, out), to = pair_bytes(a, in);
    char *tmp = coll_bytes_alloc(a, from + to);
    move_pair(a, out, tmp, 0);
    int rc = mpi_coll_sendrecv(self, c, tmp, from, coll_byte(), peer, tmp + from, to, coll_byte(),
                               peer, MPI_TAG_ALLGATHERV);
    if (!rc)
        move_pair(a, in, tmp + from, 1);
    coll_bytes_free(tmp);
    return rc;
}

static int run(struct mpi_rank *self, struct mpi_comm *c, const struct mpi_coll_args *a, int tag)
{
    int other = a->rank ^ 1, turn = a->rank % 2 ? 1 : a->size - 1, out = a->rank & -2;
    int rc = coll_copy_own(a);
    struct coll_block mine = coll_recv_block(a, a->rank), theirs = coll_recv_block(a, other);

    rc |= mpi_coll_sendrecv(self, c, mine.buf, mine.count, mine.type, other, theirs.buf,
                            theirs.count, theirs.type, other, tag);
    for (int step = 1; step < a->size / 2; step++, turn = a->size - turn) {
        /* Of the pair that arrives, in the direction it comes from. */
        int distance = (step + 1) / 2 * 2;
        int in = turn == 1 ? coll_after(a, a->rank & -2, distance)
                           : coll_before(a, a->rank & -2, distance);
        rc |= exchange(self, c, a, out, in, coll_after(a, a->rank, turn));
        out = in;
    }
    return rc;
}

int coll_allgather_neighbor_exchange(struct mpi_rank *self, struct mpi_comm *c,
                                     const struct mpi_coll_args *a)
{
    return run(self, c, a, MPI_TAG_ALLGATHER);
}

int coll_allgatherv_neighbor_exchange(struct mpi_rank *self, struct mpi_comm *c,
                                      const struct mpi_coll_args *a)
{
    return run(self, c, a, MPI_TAG_ALLGATHERV);
}
