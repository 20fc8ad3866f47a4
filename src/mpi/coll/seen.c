/*
 * seen.c - reports collectives to observers.
 */
#include "mpi/coll/entry_check.h"

static int is_rooted(int op)
{
    return op == MPI_COLL_bcast || op == MPI_COLL_gather || op == MPI_COLL_gatherv ||
           op == MPI_COLL_scatter || op == MPI_COLL_scatterv || op == MPI_COLL_reduce;
}

static int is_equal(int op)
{
    return op == MPI_COLL_gather || op == MPI_COLL_scatter || op == MPI_COLL_allgather ||
           op == MPI_COLL_alltoall || op == MPI_COLL_neighbor_allgather ||
           op == MPI_COLL_neighbor_alltoall;
}

/* Of n blocks. O(n) where they differ. */
static uint64_t bytes_of(struct coll_block (*block)(const struct mpi_coll_args *, int),
                         const struct mpi_coll_args *a, int n)
{
    int different = is_equal(a->op_id) ? n > 0 : n;
    uint64_t sum = 0;

    for (int i = 0; i < different; i++) {
        struct coll_block b = block(a, i);

        sum += b.type ? coll_block_bytes(&b) : 0;
    }
    return different == n ? sum : sum * (uint64_t)n;
}

/* Reductions describe their items by the receive side. */
static void count_items(const struct mpi_coll_args *a, int root, struct mpi_seen_collective *s)
{
    uint64_t mine = a->rcount * a->rtype->size;

    s->sent = mine;
    s->received = a->op_id == MPI_COLL_reduce && !root ? 0 : mine;
    if (a->op_id == MPI_COLL_reduce_scatter || a->op_id == MPI_COLL_reduce_scatter_block) {
        s->sent = coll_block_sum(a, 0, a->size) * a->rtype->size;
        s->received = coll_block_count(a, a->rank) * a->rtype->size;
    }
}

/* What a rank sends to all, or to the root, counts once; a side that is not significant at this
 * rank counts as 0. */
static void count_blocks(const struct mpi_rank *self, const struct mpi_comm *c,
                         const struct mpi_coll_args *a, int root, struct mpi_seen_collective *s)
{
    int sends, receives, gives = 1, gets = 1;

    coll_count_blocks(self, c, a->op_id, &sends, &receives);
    switch (a->op_id) {
    case MPI_COLL_gather:
    case MPI_COLL_gatherv:
        sends = 1;
        gets = root;
        break;
    case MPI_COLL_scatter:
    case MPI_COLL_scatterv:
        receives = 1;
        gives = root;
        break;
    case MPI_COLL_allgather:
    case MPI_COLL_allgatherv:
    case MPI_COLL_neighbor_allgather:
    case MPI_COLL_neighbor_allgatherv:
        sends = 1;
        break;
    default:
        break;
    }
    s->sent = gives && a->sbuf != MPI_IN_PLACE ? bytes_of(coll_send_block, a, sends) : 0;
    s->received = gets && a->rbuf != MPI_IN_PLACE ? bytes_of(coll_recv_block, a, receives) : 0;
}

static void count_bytes(const struct mpi_rank *self, const struct mpi_comm *c,
                        const struct mpi_coll_args *a, struct mpi_seen_collective *s)
{
    int root = is_rooted(a->op_id) && coll_is_root(c, a);

    if (a->op_id == MPI_COLL_barrier || (is_rooted(a->op_id) && a->root == MPI_PROC_NULL))
        return;
    if (a->op_id == MPI_COLL_bcast)
        *(root ? &s->sent : &s->received) = a->rcount * a->rtype->size;
    else if (a->op_id >= MPI_COLL_reduce && a->op_id <= MPI_COLL_exscan)
        count_items(a, root, s);
    else
        count_blocks(self, c, a, root, s);
}

int mpi_see_collective(struct mpi_rank *self, struct mpi_comm *c, const struct mpi_coll_args *a,
                       MPI_Request request)
{
    struct mpi_seen_collective s = {.operation = a->op_id,
                                    .comm = c->handle,
                                    .ctx = c->ctx,
                                    .root = is_rooted(a->op_id) ? a->root : MPI_UNDEFINED,
                                    .request = request};
    int rc;

    count_bytes(self, c, a, &s);
    mpi_tell_collective(self, self->ent.clock, &s);
    rc = mpi_coll_run(self, c, a);
    s.ended = 1;
    mpi_tell_collective(self, self->ent.clock, &s);
    return rc;
}
