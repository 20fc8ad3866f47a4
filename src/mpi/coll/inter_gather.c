/*
 * inter_gather.c - gather and scatter between two groups.
 *
 *     local_gather   rank 0 of the other group gathers there, and sends all to the root
 *     local_scatter  the root sends all to rank 0 of the other group, which scatters there
 *     linear         a message between the root and each rank of the other group
 *
 * The first two cost a latency and a tree, and pass every byte on once more: for short blocks.
 */
#include "mpi/coll/inter.h"

int inter_gather_local_gather(struct mpi_rank *self, struct mpi_comm *c,
                              const struct mpi_coll_args *a)
{
    if (a->root == MPI_ROOT)
        return mpi_coll_recv(self, c, a->rbuf, a->rcount * c->remote->size, a->rtype, 0,
                             MPI_TAG_GATHER);
    uint64_t bytes = a->scount * a->stype->size, total = bytes * (uint64_t)a->size;
    char *all = a->rank == 0 ? coll_bytes_alloc(a, total) : NULL;
    int rc = mpi_coll_gather(self, c->local, a->sbuf, a->scount, a->stype, all, bytes, coll_byte(),
                             0);
    if (a->rank == 0)
        rc |= mpi_coll_send(self, c, all, total, coll_byte(), a->root, MPI_TAG_GATHER);
    coll_bytes_free(all);
    return rc;
}

int inter_scatter_local_scatter(struct mpi_rank *self, struct mpi_comm *c,
                                const struct mpi_coll_args *a)
{
    if (a->root == MPI_ROOT)
        return mpi_coll_send(self, c, a->sbuf, a->scount * c->remote->size, a->stype, 0,
                             MPI_TAG_SCATTER);
    uint64_t bytes = a->rcount * a->rtype->size, total = bytes * (uint64_t)a->size;
    char *all = a->rank == 0 ? coll_bytes_alloc(a, total) : NULL;
    int rc = MPI_SUCCESS;
    if (a->rank == 0)
        rc |= mpi_coll_recv(self, c, all, total, coll_byte(), a->root, MPI_TAG_SCATTER);
    rc |= mpi_coll_scatter(self, c->local, all, bytes, coll_byte(), a->rbuf, a->rcount, a->rtype,
                           0);
    coll_bytes_free(all);
    return rc;
}

/* ---- linear ---- */

/* Starts messages with the remote ranks from *next on, at most COLL_WINDOW; returns how many. */
static uint32_t start_window(struct mpi_rank *self, struct mpi_comm *c,
                             const struct mpi_coll_args *a, struct mpi_req *reqs, int receive,
                             uint32_t *next, int tag)
{
    uint32_t n = 0;

    for (; *next < c->remote->size && n < COLL_WINDOW; ++*next) {
        int peer = (int)*next;
        struct coll_block b = receive ? coll_recv_block(a, peer) : coll_send_block(a, peer);
        if (!coll_block_bytes(&b))
            continue;
        if (receive)
            mpi_coll_irecv(self, c, &reqs[n++], b.buf, b.count, b.type, peer, tag);
        else
            mpi_coll_isend(self, c, &reqs[n++], b.buf, b.count, b.type, peer, tag);
    }
    return n;
}

static int with_all(struct mpi_rank *self, struct mpi_comm *c, const struct mpi_coll_args *a,
                    int receive, int tag)
{
    size_t window = (size_t)coll_min((int)c->remote->size, COLL_WINDOW);
    struct mpi_req *reqs = (struct mpi_req *)mem_alloc(window * sizeof *reqs);
    int rc = MPI_SUCCESS;

    for (uint32_t next = 0; next < c->remote->size;)
        rc |= mpi_p2p_waitall(self, reqs, start_window(self, c, a, reqs, receive, &next, tag));
    mem_free(reqs);
    return rc;
}

int inter_receive_all(struct mpi_rank *self, struct mpi_comm *c, const struct mpi_coll_args *a,
                      int tag)
{
    return with_all(self, c, a, 1, tag);
}

/* The caller's block to every rank of the remote group: COLL_WINDOW at a time. */
static int send_all(struct mpi_rank *self, struct mpi_comm *c, const struct mpi_coll_args *a,
                    int tag)
{
    return with_all(self, c, a, 0, tag);
}

static int gather(struct mpi_rank *self, struct mpi_comm *c, const struct mpi_coll_args *a, int tag)
{
    if (a->root == MPI_ROOT)
        return inter_receive_all(self, c, a, tag);
    if (a->scount * a->stype->size == 0)
        return MPI_SUCCESS;
    return mpi_coll_send(self, c, a->sbuf, a->scount, a->stype, a->root, tag);
}

static int scatter(struct mpi_rank *self, struct mpi_comm *c, const struct mpi_coll_args *a,
                   int tag)
{
    if (a->root == MPI_ROOT)
        return send_all(self, c, a, tag);
    if (a->rcount * a->rtype->size == 0)
        return MPI_SUCCESS;
    return mpi_coll_recv(self, c, a->rbuf, a->rcount, a->rtype, a->root, tag);
}

int inter_gather_linear(struct mpi_rank *self, struct mpi_comm *c, const struct mpi_coll_args *a)
{
    return gather(self, c, a, MPI_TAG_GATHER);
}

int inter_gatherv_linear(struct mpi_rank *self, struct mpi_comm *c, const struct mpi_coll_args *a)
{
    return gather(self, c, a, MPI_TAG_GATHERV);
}

int inter_scatter_linear(struct mpi_rank *self, struct mpi_comm *c, const struct mpi_coll_args *a)
{
    return scatter(self, c, a, MPI_TAG_SCATTER);
}

int inter_scatterv_linear(struct mpi_rank *self, struct mpi_comm *c, const struct mpi_coll_args *a)
{
    return scatter(self, c, a, MPI_TAG_SCATTERV);
}
