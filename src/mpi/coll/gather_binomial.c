/*
 * Gather up a binomial tree.
 *
 * With r = rank - root mod P, a rank collects the blocks [r, r + lowest bit of r) of its subtree as
 * packed bytes and sends them to r without that bit. Cost: ceil(log2 P) * alpha + n beta (P - 1) /
 * P for n bytes at the root. A leaf sends its buffer as it is; the root receives into place unless
 * a subtree wraps around the end of the ranks.
 */
#include "mpi/coll/coll_internal.h"

/* Receives the blocks of n ranks from `first` on, sent by `first`, into the root's buffer. */
static int root_recv(struct mpi_rank *self, struct mpi_comm *c, const struct mpi_coll_args *a,
                     int first, int n)
{
    if (n <= a->size - first) {
        void *to = coll_at(a->rbuf, (int64_t)((uint64_t)first * a->rcount), a->rtype);
        return mpi_coll_recv(self, c, to, (uint64_t)n * a->rcount, a->rtype, first, MPI_TAG_GATHER);
    }
    uint64_t bytes = (uint64_t)n * a->rcount * a->rtype->size;
    char *tmp = coll_bytes_alloc(a, bytes);
    int rc = mpi_coll_recv(self, c, tmp, bytes, coll_byte(), first, MPI_TAG_GATHER);
    if (!rc)
        coll_unpack_ring(a, a->rbuf, a->rcount, a->rtype, first, n, tmp);
    coll_bytes_free(tmp);
    return rc;
}

static int run_root(struct mpi_rank *self, struct mpi_comm *c, const struct mpi_coll_args *a)
{
    int rc = MPI_SUCCESS;

    if (a->sbuf != MPI_IN_PLACE) {
        struct coll_block from = coll_send_block(a, a->rank), to = coll_recv_block(a, a->rank);
        rc = coll_copy_block(&from, &to);
    }
    for (int mask = 1; mask < a->size; mask <<= 1)
        rc |= root_recv(self, c, a, coll_after(a, a->rank, mask), coll_min(mask, a->size - mask));
    return rc;
}

/* A rank with children: n blocks in its subtree, its own first. */
static int run_inner(struct mpi_rank *self, struct mpi_comm *c, const struct mpi_coll_args *a,
                     int n, int parent)
{
    uint64_t nb = a->scount * a->stype->size;
    char *tmp = coll_bytes_alloc(a, (uint64_t)n * nb);
    int rc = MPI_SUCCESS;

    mpi_type_pack(a->stype, a->scount, a->sbuf, tmp);
    for (int mask = 1; mask < n; mask <<= 1)
        rc |= mpi_coll_recv(self, c, tmp + (uint64_t)mask * nb,
                            (uint64_t)coll_min(mask, n - mask) * nb, coll_byte(),
                            coll_after(a, a->rank, mask), MPI_TAG_GATHER);
    rc |= mpi_coll_send(self, c, tmp, (uint64_t)n * nb, coll_byte(), parent, MPI_TAG_GATHER);
    coll_bytes_free(tmp);
    return rc;
}

int coll_gather_binomial(struct mpi_rank *self, struct mpi_comm *c, const struct mpi_coll_args *a)
{
    int r = coll_before(a, a->rank, a->root), low = r & -r;

    if (!r)
        return run_root(self, c, a);
    int n = coll_min(low, a->size - r), parent = coll_before(a, a->rank, low);
    if (n > 1)
        return run_inner(self, c, a, n, parent);
    return mpi_coll_send(self, c, a->sbuf, a->scount, a->stype, parent, MPI_TAG_GATHER);
}
