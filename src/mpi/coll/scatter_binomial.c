/*
 * Scatter down a binomial tree.
 *
 * The mirror of gather_binomial.c: with r = rank - root mod P, a rank receives the packed blocks
 * [r, r + lowest bit of r) of its subtree from r without that bit, and passes the upper halves on.
 * Cost: ceil(log2 P) * alpha + n beta (P - 1) / P for n bytes at the root.
 */
#include "mpi/coll/coll_internal.h"

/* Sends the blocks of n ranks from `first` on to `first`. */
static int root_send(struct mpi_rank *self, struct mpi_comm *c, const struct mpi_coll_args *a,
                     int first, int n)
{
    if (n <= a->size - first) {
        void *from = coll_at(a->sbuf, (int64_t)((uint64_t)first * a->scount), a->stype);
        return mpi_coll_send(self, c, from, (uint64_t)n * a->scount, a->stype, first,
                             MPI_TAG_SCATTER);
    }
    uint64_t bytes = (uint64_t)n * a->scount * a->stype->size;
    char *tmp = coll_bytes_alloc(a, bytes);
    coll_pack_ring(a, a->sbuf, a->scount, a->stype, first, n, tmp);
    int rc = mpi_coll_send(self, c, tmp, bytes, coll_byte(), first, MPI_TAG_SCATTER);
    coll_bytes_free(tmp);
    return rc;
}

static int run_root(struct mpi_rank *self, struct mpi_comm *c, const struct mpi_coll_args *a)
{
    int rc = MPI_SUCCESS;

    for (int mask = coll_pow2_below(a->size - 1); mask; mask >>= 1)
        rc |= root_send(self, c, a, coll_after(a, a->rank, mask), coll_min(mask, a->size - mask));
    if (a->rbuf != MPI_IN_PLACE) {
        struct coll_block from = coll_send_block(a, a->rank), to = coll_recv_block(a, a->rank);
        rc |= coll_copy_block(&from, &to);
    }
    return rc;
}

/* A rank with children: n blocks in its subtree, its own first. */
static int run_inner(struct mpi_rank *self, struct mpi_comm *c, const struct mpi_coll_args *a,
                     int n, int parent)
{
    uint64_t nb = a->rcount * a->rtype->size;
    char *tmp = coll_bytes_alloc(a, (uint64_t)n * nb);
    int rc = mpi_coll_recv(self, c, tmp, (uint64_t)n * nb, coll_byte(), parent, MPI_TAG_SCATTER);

    for (int mask = coll_pow2_below(n - 1); mask; mask >>= 1)
        rc |= mpi_coll_send(self, c, tmp + (uint64_t)mask * nb,
                            (uint64_t)coll_min(mask, n - mask) * nb, coll_byte(),
                            coll_after(a, a->rank, mask), MPI_TAG_SCATTER);
    if (!rc)
        mpi_type_unpack(a->rtype, a->rcount, a->rbuf, tmp, nb);
    coll_bytes_free(tmp);
    return rc;
}

int coll_scatter_binomial(struct mpi_rank *self, struct mpi_comm *c, const struct mpi_coll_args *a)
{
    int r = coll_before(a, a->rank, a->root), low = r & -r;

    if (!r)
        return run_root(self, c, a);
    int n = coll_min(low, a->size - r), parent = coll_before(a, a->rank, low);
    if (n > 1)
        return run_inner(self, c, a, n, parent);
    return mpi_coll_recv(self, c, a->rbuf, a->rcount, a->rtype, parent, MPI_TAG_SCATTER);
}
