/*
 * Broadcast of long messages: scatter down a binomial tree, then allgather (van de Geijn).
 *
 * The message is cut into P chunks of ceil(n / P) bytes; chunk i belongs to relative rank i (root
 * first). Cost with recursive doubling: 2 log2 P * alpha + 2 n beta (P - 1) / P; with a ring:
 * (log2 P + P - 1) * alpha + the same bandwidth term, but neighbours only.
 *
 * Data that is not contiguous is packed once at the root and unpacked once elsewhere. A rank that
 * received something unexpected passes on nothing in its subtree, so that those ranks notice, too.
 */
#include "mpi/coll/coll_internal.h"

struct job {
    char *bytes;
    uint64_t total, chunk;
    int r; /* relative rank */
};

/* Bytes of the chunks [i, i + n), cut at the end of the message. */
static uint64_t chunk_bytes(const struct job *j, int i, int n)
{
    uint64_t from = (uint64_t)i * j->chunk, bytes = (uint64_t)n * j->chunk;

    if (from >= j->total)
        return 0;
    return bytes < j->total - from ? bytes : j->total - from;
}

static char *chunk_at(const struct job *j, int i)
{
    return j->bytes + (uint64_t)i * j->chunk;
}

/* Rank of a relative rank. */
static int rank_of(const struct mpi_coll_args *a, int r)
{
    return coll_after(a, r, a->root);
}

static int scatter(struct mpi_rank *self, struct mpi_comm *c, const struct mpi_coll_args *a,
                   const struct job *j)
{
    int mask = 1, rc = MPI_SUCCESS;

    while (mask < a->size && !(j->r & mask))
        mask <<= 1;
    if (j->r && chunk_bytes(j, j->r, mask))
        rc |= mpi_coll_recv(self, c, chunk_at(j, j->r), chunk_bytes(j, j->r, mask), coll_byte(),
                            rank_of(a, j->r - mask), MPI_TAG_BCAST);
    while (mask >>= 1) {
        int child = j->r + mask;
        if (child >= a->size || !chunk_bytes(j, child, mask))
            continue;
        rc |= mpi_coll_send(self, c, chunk_at(j, child), rc ? 0 : chunk_bytes(j, child, mask),
                            coll_byte(), rank_of(a, child), MPI_TAG_BCAST);
    }
    return rc;
}

static int allgather_doubling(struct mpi_rank *self, struct mpi_comm *c,
                              const struct mpi_coll_args *a, const struct job *j)
{
    int rc = MPI_SUCCESS;

    for (int mask = 1; mask < a->size; mask <<= 1) {
        int mine = j->r & -mask, theirs = mine ^ mask, peer = rank_of(a, j->r ^ mask);
        rc |= mpi_coll_sendrecv(self, c, chunk_at(j, mine), chunk_bytes(j, mine, mask), coll_byte(),
                                peer, chunk_at(j, theirs), chunk_bytes(j, theirs, mask),
                                coll_byte(), peer, MPI_TAG_BCAST);
    }
    return rc;
}

static int allgather_ring(struct mpi_rank *self, struct mpi_comm *c, const struct mpi_coll_args *a,
                          const struct job *j)
{
    int rc = MPI_SUCCESS;

    for (int step = 0; step < a->size - 1; step++) {
        int out = coll_before(a, j->r, step), in = coll_before(a, j->r, step + 1);
        rc |= mpi_coll_sendrecv(self, c, chunk_at(j, out), chunk_bytes(j, out, 1), coll_byte(),
                                coll_after(a, a->rank, 1), chunk_at(j, in), chunk_bytes(j, in, 1),
                                coll_byte(), coll_before(a, a->rank, 1), MPI_TAG_BCAST);
    }
    return rc;
}

static int run(struct mpi_rank *self, struct mpi_comm *c, const struct mpi_coll_args *a,
               int (*allgather)(struct mpi_rank *, struct mpi_comm *, const struct mpi_coll_args *,
                                const struct job *))
{
    struct job j = {.total = a->rcount * a->rtype->size, .r = coll_before(a, a->rank, a->root)};

    j.chunk = (j.total + (uint64_t)a->size - 1) / (uint64_t)a->size;
    j.bytes = a->rtype->contig ? (char *)a->rbuf : coll_bytes_alloc(a, j.total);
    if (!a->rtype->contig && !j.r)
        mpi_type_pack(a->rtype, a->rcount, a->rbuf, j.bytes);
    int rc = scatter(self, c, a, &j);
    rc |= allgather(self, c, a, &j);
    if (!a->rtype->contig) {
        if (!rc && j.r)
            mpi_type_unpack(a->rtype, a->rcount, a->rbuf, j.bytes, j.total);
        coll_bytes_free(j.bytes);
    }
    return rc;
}

int coll_bcast_scatter_allgather(struct mpi_rank *self, struct mpi_comm *c,
                                 const struct mpi_coll_args *a)
{
    return run(self, c, a, allgather_doubling);
}

int coll_bcast_scatter_ring_allgather(struct mpi_rank *self, struct mpi_comm *c,
                                      const struct mpi_coll_args *a)
{
    return run(self, c, a, allgather_ring);
}
