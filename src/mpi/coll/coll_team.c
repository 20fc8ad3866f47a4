/*
 * coll_team.c - simple algorithms among some ranks of a communicator, the parts of multi-level
 * algorithms. Members are identified by their numbers 0 to n - 1 in the team. All may switch.
 */
#include "mpi/coll/coll_internal.h"

/* ---- barrier ---- */

int coll_team_collect(struct mpi_rank *self, struct mpi_comm *c, const struct coll_team *t)
{
    int low = t->me ? t->me & -t->me : t->n, rc = MPI_SUCCESS;

    for (int mask = 1; mask < low && t->me + mask < t->n && !rc; mask <<= 1)
        rc = coll_await(self, c, coll_team_rank(t, t->me + mask));
    if (!rc && t->me)
        rc = coll_signal(self, c, coll_team_rank(t, t->me - low));
    return rc;
}

int coll_team_release(struct mpi_rank *self, struct mpi_comm *c, const struct coll_team *t)
{
    int mask = t->me ? t->me & -t->me : 1, rc = MPI_SUCCESS;

    if (t->me)
        rc = coll_await(self, c, coll_team_rank(t, t->me - mask));
    else if (t->n > 1)
        mask = 2 * coll_pow2_below(t->n - 1);
    while ((mask >>= 1) && !rc)
        if (t->me + mask < t->n)
            rc = coll_signal(self, c, coll_team_rank(t, t->me + mask));
    return rc;
}

/* ---- data ---- */

/* The number of relative number r, counted from top. */
static int relative(const struct coll_team *t, int r, int top)
{
    return (int)(((int64_t)r + top) % t->n);
}

int coll_team_bcast(struct mpi_rank *self, struct mpi_comm *c, const struct coll_team *t, int top,
                    const struct coll_block *b, int tag)
{
    int r = (t->me - top + t->n) % t->n, mask = 1, rc = MPI_SUCCESS;

    while (mask < t->n && !(r & mask))
        mask <<= 1;
    if (r)
        rc = mpi_coll_recv(self, c, b->buf, b->count, b->type,
                           coll_team_rank(t, relative(t, r - mask, top)), tag);
    while (mask >>= 1)
        if (mask < t->n - r)
            rc |= mpi_coll_send(self, c, b->buf, rc ? 0 : b->count, b->type,
                                coll_team_rank(t, relative(t, r + mask, top)), tag);
    return rc;
}

/* Receives a member's items and folds them into acc. */
static int fold_from(struct mpi_rank *self, struct mpi_comm *c, const struct mpi_coll_args *a,
                     void *acc, int from, int in_is_lower, int tag)
{
    void *in = coll_items_alloc(a, a->rtype, a->rcount);
    int rc = mpi_coll_recv(self, c, in, a->rcount, a->rtype, from, tag);

    if (!rc)
        rc = coll_fold(a, acc, in, a->rcount, in_is_lower);
    coll_items_free(in, a->rtype, a->rcount);
    return rc;
}

int coll_team_reduce(struct mpi_rank *self, struct mpi_comm *c, const struct mpi_coll_args *a,
                     const struct coll_team *t, int top, void *acc, int tag)
{
    int base = a->op->commute ? top : 0, rc = MPI_SUCCESS;
    int r = (t->me - base + t->n) % t->n, low = r ? r & -r : t->n;

    for (int mask = 1; mask < low && mask < t->n - r; mask <<= 1)
        rc |= fold_from(self, c, a, acc, coll_team_rank(t, relative(t, r + mask, base)), 0, tag);
    if (r)
        rc |= mpi_coll_send(self, c, acc, a->rcount, a->rtype,
                            coll_team_rank(t, relative(t, r - low, base)), tag);
    if (base != top && t->me == base)
        rc |= mpi_coll_send(self, c, acc, a->rcount, a->rtype, coll_team_rank(t, top), tag);
    if (base != top && t->me == top)
        rc |= mpi_coll_recv(self, c, acc, a->rcount, a->rtype, coll_team_rank(t, base), tag);
    return rc;
}

static int exchange(struct mpi_rank *self, struct mpi_comm *c, const struct mpi_coll_args *a,
                    void *acc, int peer, int in_is_lower, int tag)
{
    void *in = coll_items_alloc(a, a->rtype, a->rcount);
    int rc = mpi_coll_sendrecv(self, c, acc, a->rcount, a->rtype, peer, in, a->rcount, a->rtype,
                               peer, tag);

    if (!rc)
        rc = coll_fold(a, acc, in, a->rcount, in_is_lower);
    coll_items_free(in, a->rtype, a->rcount);
    return rc;
}

int coll_team_allreduce(struct mpi_rank *self, struct mpi_comm *c, const struct mpi_coll_args *a,
                        const struct coll_team *t, void *acc, int tag)
{
    struct mpi_coll_args place = {.rank = t->me, .size = t->n};
    struct coll_pow2 p;
    int rc = MPI_SUCCESS;

    coll_pow2_init(&p, &place);
    if (p.me < 0) {
        int other = coll_team_rank(t, t->me + 1);
        rc = mpi_coll_send(self, c, acc, a->rcount, a->rtype, other, tag);
        return rc | mpi_coll_recv(self, c, acc, a->rcount, a->rtype, other, tag);
    }
    if (p.me < p.rem)
        rc = fold_from(self, c, a, acc, coll_team_rank(t, t->me - 1), 1, tag);
    for (int mask = 1; mask < p.pow2; mask <<= 1) {
        int peer = coll_pow2_rank(&p, p.me ^ mask);
        rc |= exchange(self, c, a, acc, coll_team_rank(t, peer), peer < t->me, tag);
    }
    if (p.me < p.rem)
        rc |= mpi_coll_send(self, c, acc, a->rcount, a->rtype, coll_team_rank(t, t->me - 1), tag);
    return rc;
}
