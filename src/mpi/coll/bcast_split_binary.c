/*
 * Broadcast down a binary tree that splits the message: the left half of the tree carries its first
 * half, the right half the second; then ranks at the same position left and right exchange what
 * they lack (Pjesivac-Grbovic et al. 2007).
 *
 * Cost: about 2 log2 P * (alpha + n/2 beta) + alpha + n/2 beta. With r = rank - root mod P,
 * children of r are 2r + 1 and 2r + 2. A rank at the lowest level whose partner does not exist gets
 * the other half from its parent, when that has it.
 */
#include "mpi/coll/coll_internal.h"

struct half {
    char *at;
    uint64_t bytes;
};

/* Is r below the root's left child? Its partner on the other side. */
static int partner(int r, int *is_left)
{
    int level = coll_pow2_below(r + 1), half = level / 2; /* the level's ranks: [level - 1, ...) */

    *is_left = r - (level - 1) < half;
    return *is_left ? r + half : r - half;
}

static int send_half(struct mpi_rank *self, struct mpi_comm *c, const struct mpi_coll_args *a,
                     const struct half *h, int64_t to)
{
    if (to >= a->size)
        return MPI_SUCCESS;
    return mpi_coll_send(self, c, h->at, h->bytes, coll_byte(), coll_after(a, (int)to, a->root),
                         MPI_TAG_BCAST);
}

static int recv_half(struct mpi_rank *self, struct mpi_comm *c, const struct mpi_coll_args *a,
                     const struct half *h, int from)
{
    return mpi_coll_recv(self, c, h->at, h->bytes, coll_byte(), coll_after(a, from, a->root),
                         MPI_TAG_BCAST);
}

/* Sends what they lack to those of my children that have no partner. */
static int help_children(struct mpi_rank *self, struct mpi_comm *c, const struct mpi_coll_args *a,
                         int r, const struct half *lacking)
{
    int rc = MPI_SUCCESS, left;

    for (int64_t child = 2 * (int64_t)r + 1; child <= 2 * (int64_t)r + 2; child++)
        if (child < a->size && partner((int)child, &left) >= a->size)
            rc |= send_half(self, c, a, lacking, child);
    return rc;
}

static int run_other(struct mpi_rank *self, struct mpi_comm *c, const struct mpi_coll_args *a,
                     const struct half *h, int r)
{
    int left, peer = partner(r, &left), rc;
    const struct half *mine = &h[!left], *lacking = &h[left];

    rc = recv_half(self, c, a, mine, (r - 1) / 2);
    rc |= send_half(self, c, a, mine, 2 * (int64_t)r + 1);
    rc |= send_half(self, c, a, mine, 2 * (int64_t)r + 2);
    if (peer >= a->size) {
        rc |= recv_half(self, c, a, lacking, (r - 1) / 2);
    } else {
        int other = coll_after(a, peer, a->root);
        rc |= mpi_coll_sendrecv(self, c, mine->at, mine->bytes, coll_byte(), other, lacking->at,
                                lacking->bytes, coll_byte(), other, MPI_TAG_BCAST);
    }
    return rc | help_children(self, c, a, r, lacking);
}

int coll_bcast_split_binary(struct mpi_rank *self, struct mpi_comm *c,
                            const struct mpi_coll_args *a)
{
    int r = coll_before(a, a->rank, a->root), rc;
    uint64_t total = a->rcount * a->rtype->size;
    char *bytes = coll_flatten(a);
    struct half h[2] = {{bytes, (total + 1) / 2}, {bytes + (total + 1) / 2, total / 2}};

    if (r) {
        rc = run_other(self, c, a, h, r);
    } else {
        rc = send_half(self, c, a, &h[0], 1);
        rc |= send_half(self, c, a, &h[1], 2);
        rc |= help_children(self, c, a, 0, &h[1]);
    }
    coll_unflatten(a, bytes, !rc && r);
    return rc;
}
