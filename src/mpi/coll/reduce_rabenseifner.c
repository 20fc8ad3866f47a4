/*
 * Reduce and allreduce of long messages by Rabenseifner's algorithm: reduce-scatter by recursive
 * halving, then a gather to the root, or an allgather, by the same steps in reverse.
 *
 * The items are cut into one piece for each of the largest power of two of ranks. In round k ranks
 * that differ in bit k hold the same run of pieces; each sends one half and folds the other. Cost
 * for P a power of two: 2 log2 P * alpha + 2 n beta (P - 1) / P + n gamma (P - 1) / P. Other P:
 * pairs of neighbours fold first and one of each continues (in the pair of the root: the root); two
 * rounds more for allreduce, one for reduce. Pieces fold out of rank order: commutative operations.
 */
#include "mpi/coll/coll_internal.h"

struct job {
    char *acc; /* all items; mine are folded here */
    char *in;
    struct coll_pow2 p;
    int lo, len; /* pieces I hold: [lo, lo + len) */
    int tag;
    int root; /* of reduce, else -1 */
};

/* First item of a piece: the first (count mod pow2) pieces have one item more. */
static uint64_t piece_start(const struct mpi_coll_args *a, const struct job *j, int piece)
{
    uint64_t n = (uint64_t)j->p.pow2, i = (uint64_t)piece, extra = a->rcount % n;
    return i * (a->rcount / n) + (i < extra ? i : extra);
}
static uint64_t piece_items(const struct mpi_coll_args *a, const struct job *j, int piece, int n)
{
    return piece_start(a, j, piece + n) - piece_start(a, j, piece);
}
static void *piece_at(const struct mpi_coll_args *a, const struct job *j, void *buf, int piece)
{
    return coll_at(buf, (int64_t)piece_start(a, j, piece), a->rtype);
}

/* The rank that continues as `new_rank`. */
static int rank_of(const struct job *j, int new_rank)
{
    if (new_rank < j->p.rem && j->root == 2 * new_rank)
        return j->root;
    return coll_pow2_rank(&j->p, new_rank);
}

static void job_init(struct job *j, const struct mpi_coll_args *a, int root)
{
    j->tag = root < 0 ? MPI_TAG_ALLREDUCE : MPI_TAG_REDUCE;
    j->root = root;
    coll_pow2_init(&j->p, a);
    if (a->rank < 2 * j->p.rem)
        j->p.me = rank_of(j, a->rank / 2) == a->rank ? a->rank / 2 : -1;
    j->lo = 0;
    j->len = j->p.pow2;
}

/* Folds in the neighbour that does not continue. */
static int fold_pair(struct mpi_rank *self, struct mpi_comm *c, const struct mpi_coll_args *a,
                     struct job *j)
{
    if (j->p.me >= j->p.rem)
        return MPI_SUCCESS;
    int rc = mpi_coll_recv(self, c, j->in, a->rcount, a->rtype, a->rank ^ 1, j->tag);
    return rc ? rc : coll_fold(a, j->acc, j->in, a->rcount, 1);
}

static int scatter_pieces(struct mpi_rank *self, struct mpi_comm *c, const struct mpi_coll_args *a,
                          struct job *j)
{
    int rc = MPI_SUCCESS;

    for (int mask = 1; mask < j->p.pow2; mask <<= 1) {
        int peer = rank_of(j, j->p.me ^ mask), away = j->lo;
        j->len /= 2;
        if (j->p.me & mask)
            j->lo += j->len;
        else
            away += j->len;
        uint64_t keep = piece_items(a, j, j->lo, j->len);
        rc |= mpi_coll_sendrecv(self, c, piece_at(a, j, j->acc, away),
                                piece_items(a, j, away, j->len), a->rtype, peer, j->in, keep,
                                a->rtype, peer, j->tag);
        if (!rc)
            rc = coll_fold(a, piece_at(a, j, j->acc, j->lo), j->in,
                           piece_items(a, j, j->lo, j->len), 1);
    }
    return rc;
}

/* One step back: the pieces of the peer beside mine. */
static int step_back(struct mpi_rank *self, struct mpi_comm *c, const struct mpi_coll_args *a,
                     struct job *j, int mask, int send, int recv)
{
    int peer = rank_of(j, j->p.me ^ mask);
    int other = j->p.me & mask ? j->lo - j->len : j->lo + j->len, rc;
    void *mine = piece_at(a, j, j->acc, j->lo), *theirs = piece_at(a, j, j->acc, other);
    uint64_t out = piece_items(a, j, j->lo, j->len), in = piece_items(a, j, other, j->len);

    if (!recv)
        return mpi_coll_send(self, c, mine, out, a->rtype, peer, j->tag);
    if (send)
        rc = mpi_coll_sendrecv(self, c, mine, out, a->rtype, peer, theirs, in, a->rtype, peer,
                               j->tag);
    else
        rc = mpi_coll_recv(self, c, theirs, in, a->rtype, peer, j->tag);
    j->lo = coll_min(j->lo, other);
    j->len *= 2;
    return rc;
}

/* Gathers the pieces at the root: for each bit, the ranks on the other side than the root send and
 * are done. */
static int gather_pieces(struct mpi_rank *self, struct mpi_comm *c, const struct mpi_coll_args *a,
                         struct job *j)
{
    int top = j->root < 2 * j->p.rem ? j->root / 2 : j->root - j->p.rem, rc = MPI_SUCCESS;

    for (int mask = j->p.pow2 >> 1; mask; mask >>= 1) {
        if ((j->p.me ^ top) & mask)
            return rc | step_back(self, c, a, j, mask, 1, 0);
        rc |= step_back(self, c, a, j, mask, 0, 1);
    }
    return rc;
}

static int allgather_pieces(struct mpi_rank *self, struct mpi_comm *c,
                            const struct mpi_coll_args *a, struct job *j)
{
    int rc = MPI_SUCCESS;

    for (int mask = j->p.pow2 >> 1; mask; mask >>= 1)
        rc |= step_back(self, c, a, j, mask, 1, 1);
    return rc;
}

/* A rank that continues; acc holds its own items. */
static int run_power(struct mpi_rank *self, struct mpi_comm *c, const struct mpi_coll_args *a,
                     struct job *j)
{
    j->in = (char *)coll_items_alloc(a, a->rtype, a->rcount);
    int rc = fold_pair(self, c, a, j);
    rc |= scatter_pieces(self, c, a, j);
    coll_items_free(j->in, a->rtype, a->rcount);
    return rc | (j->root < 0 ? allgather_pieces : gather_pieces)(self, c, a, j);
}

int coll_reduce_rabenseifner(struct mpi_rank *self, struct mpi_comm *c,
                             const struct mpi_coll_args *a)
{
    struct job j;

    job_init(&j, a, a->root);
    if (j.p.me < 0)
        return mpi_coll_send(self, c, coll_source(a), a->rcount, a->rtype, a->rank ^ 1, j.tag);
    if (a->rank != a->root)
        j.acc = (char *)coll_items_alloc(a, a->rtype, a->rcount);
    else
        j.acc = (char *)a->rbuf;
    if (a->sbuf != MPI_IN_PLACE)
        coll_copy(a->sbuf, j.acc, a->rcount, a->rtype);
    int rc = run_power(self, c, a, &j);
    if (a->rank != a->root)
        coll_items_free(j.acc, a->rtype, a->rcount);
    return rc;
}

int coll_allreduce_rabenseifner(struct mpi_rank *self, struct mpi_comm *c,
                                const struct mpi_coll_args *a)
{
    struct job j;
    int rc;

    job_init(&j, a, -1);
    if (j.p.me < 0) {
        rc = mpi_coll_send(self, c, coll_source(a), a->rcount, a->rtype, a->rank + 1, j.tag);
        return rc | mpi_coll_recv(self, c, a->rbuf, a->rcount, a->rtype, a->rank + 1, j.tag);
    }
    j.acc = (char *)a->rbuf;
    if (a->sbuf != MPI_IN_PLACE)
        coll_copy(a->sbuf, j.acc, a->rcount, a->rtype);
    rc = run_power(self, c, a, &j);
    if (j.p.me < j.p.rem)
        rc |= mpi_coll_send(self, c, a->rbuf, a->rcount, a->rtype, a->rank - 1, j.tag);
    return rc;
}
