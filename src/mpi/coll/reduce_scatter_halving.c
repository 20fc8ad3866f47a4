/*
 * Reduce-scatter by recursive halving, for reduce_scatter and reduce_scatter_block.
 *
 * If P is not a power of two, pairs of neighbours fold first and the upper one of each continues. A
 * rank that continues owns a segment: its own block, or those of its pair. In each round two ranks
 * that hold the same run of segments each send one half and fold the other. Cost: log2 P * alpha +
 * (n beta + n gamma) (P - 1) / P, and two rounds more for P no power of two.
 *
 * recursive_halving starts with the most distant peers, so segments lie in rank order; partial
 * results come from scattered ranks, so the operation must commute. ordered_halving starts with
 * neighbours, so that partial results come from runs of ranks and fold in order; it first brings
 * the segments into bit-reversed order, which lets every rank end with its own.
 */
#include "mpi/coll/coll_internal.h"

struct job {
    void *acc, *in;
    uint64_t total; /* items */
    uint64_t start; /* first item of the run I hold */
    struct coll_pow2 p;
    int lo, len; /* the run, in segments */
    int ordered;
};

static int tag_of(const struct mpi_coll_args *a)
{
    return a->op_id == MPI_COLL_reduce_scatter ? MPI_TAG_REDUCE_SCATTER
                                               : MPI_TAG_REDUCE_SCATTER_BLOCK;
}

/* The first block of a segment. */
static int segment_block(const struct job *j, int segment)
{
    return segment < j->p.rem ? 2 * segment : segment + j->p.rem;
}

/* The segment at a position of the order in use: 0 <= position < pow2. */
static int segment_at(const struct job *j, int position)
{
    if (!j->ordered)
        return position;
    int reversed = 0;
    for (int bit = 1; bit < j->p.pow2; bit <<= 1, position >>= 1)
        reversed = reversed << 1 | (position & 1);
    return reversed;
}

static uint64_t segment_items(const struct mpi_coll_args *a, const struct job *j, int segment)
{
    return coll_block_sum(a, segment_block(j, segment), segment_block(j, segment + 1));
}

/* Items of a run of positions. */
static uint64_t run_items(const struct mpi_coll_args *a, const struct job *j, int position, int n)
{
    if (!j->ordered)
        return coll_block_sum(a, segment_block(j, position), segment_block(j, position + n));
    uint64_t sum = 0;
    for (int i = position; i < position + n; i++)
        sum += segment_items(a, j, segment_at(j, i));
    return sum;
}

/* Copies all items into acc in the order in use. */
static void arrange(const struct mpi_coll_args *a, const struct job *j, const void *from)
{
    if (!j->ordered) {
        coll_copy(from, j->acc, j->total, a->rtype);
        return;
    }
    /* First items of the segments; freed before anything blocks. */
    uint64_t *first = (uint64_t *)mem_alloc(((size_t)j->p.pow2 + 1) * sizeof *first), to = 0;
    first[0] = 0;
    for (int i = 0; i < j->p.pow2; i++)
        first[i + 1] = first[i] + segment_items(a, j, i);
    for (int position = 0; position < j->p.pow2; position++) {
        int segment = segment_at(j, position);
        uint64_t items = first[segment + 1] - first[segment];
        coll_copy(coll_at(from, (int64_t)first[segment], a->rtype),
                  coll_at(j->acc, (int64_t)to, a->rtype), items, a->rtype);
        to += items;
    }
    mem_free(first);
}

/* Fills acc with my items, and those of the lower neighbour if it does not continue. */
static int start(struct mpi_rank *self, struct mpi_comm *c, const struct mpi_coll_args *a,
                 struct job *j)
{
    if (j->p.me >= j->p.rem) {
        arrange(a, j, coll_source(a));
        return MPI_SUCCESS;
    }
    coll_copy(coll_source(a), j->in, j->total, a->rtype);
    int rc = mpi_coll_recv(self, c, j->acc, j->total, a->rtype, a->rank - 1, tag_of(a));
    if (!rc)
        rc = coll_fold(a, j->in, j->acc, j->total, 1);
    if (!rc)
        arrange(a, j, j->in);
    return rc;
}

/* One round with the rank that differs in `bit`. */
static int halve(struct mpi_rank *self, struct mpi_comm *c, const struct mpi_coll_args *a,
                 struct job *j, int bit)
{
    int peer = coll_pow2_rank(&j->p, j->p.me ^ bit);
    j->len /= 2;
    uint64_t lower = run_items(a, j, j->lo, j->len);
    uint64_t upper = run_items(a, j, j->lo + j->len, j->len);
    uint64_t keep = j->p.me & bit ? upper : lower, away = j->start;
    if (j->p.me & bit) {
        j->lo += j->len;
        j->start += lower;
    } else {
        away += lower;
    }
    int rc = mpi_coll_sendrecv(self, c, coll_at(j->acc, (int64_t)away, a->rtype),
                               lower + upper - keep, a->rtype, peer, j->in, keep, a->rtype, peer,
                               tag_of(a));
    if (rc)
        return rc;
    return coll_fold(a, coll_at(j->acc, (int64_t)j->start, a->rtype), j->in, keep, peer < a->rank);
}

/* My segment is complete: keeps my block, sends the other one of a pair. */
static int deliver(struct mpi_rank *self, struct mpi_comm *c, const struct mpi_coll_args *a,
                   const struct job *j)
{
    uint64_t theirs = j->p.me < j->p.rem ? coll_block_count(a, a->rank - 1) : 0;
    uint64_t mine = j->start + theirs;

    coll_copy(coll_at(j->acc, (int64_t)mine, a->rtype), a->rbuf, coll_block_count(a, a->rank),
              a->rtype);
    if (!theirs)
        return MPI_SUCCESS;
    return mpi_coll_send(self, c, coll_at(j->acc, (int64_t)j->start, a->rtype), theirs, a->rtype,
                         a->rank - 1, tag_of(a));
}

static int run_power(struct mpi_rank *self, struct mpi_comm *c, const struct mpi_coll_args *a,
                     struct job *j)
{
    j->acc = coll_items_alloc(a, a->rtype, j->total);
    j->in = coll_items_alloc(a, a->rtype, j->total);
    int rc = start(self, c, a, j);

    for (int mask = 1; mask < j->p.pow2; mask <<= 1)
        rc |= halve(self, c, a, j, j->ordered ? mask : (j->p.pow2 >> 1) / mask);
    rc |= deliver(self, c, a, j);
    coll_items_free(j->in, a->rtype, j->total);
    coll_items_free(j->acc, a->rtype, j->total);
    return rc;
}

static int run(struct mpi_rank *self, struct mpi_comm *c, const struct mpi_coll_args *a,
               int ordered)
{
    struct job j = {.ordered = ordered, .total = coll_block_sum(a, 0, a->size)};

    coll_pow2_init(&j.p, a);
    j.len = j.p.pow2;
    if (j.p.me >= 0)
        return run_power(self, c, a, &j);
    int rc = mpi_coll_send(self, c, coll_source(a), j.total, a->rtype, a->rank + 1, tag_of(a));
    if (!coll_block_count(a, a->rank))
        return rc;
    return rc | mpi_coll_recv(self, c, a->rbuf, coll_block_count(a, a->rank), a->rtype, a->rank + 1,
                              tag_of(a));
}

int coll_reduce_scatter_recursive_halving(struct mpi_rank *self, struct mpi_comm *c,
                                          const struct mpi_coll_args *a)
{
    return run(self, c, a, 0);
}

int coll_reduce_scatter_ordered_halving(struct mpi_rank *self, struct mpi_comm *c,
                                        const struct mpi_coll_args *a)
{
    return run(self, c, a, 1);
}

int coll_reduce_scatter_block_recursive_halving(struct mpi_rank *self, struct mpi_comm *c,
                                                const struct mpi_coll_args *a)
{
    return run(self, c, a, 0);
}

int coll_reduce_scatter_block_ordered_halving(struct mpi_rank *self, struct mpi_comm *c,
                                              const struct mpi_coll_args *a)
{
    return run(self, c, a, 1);
}
