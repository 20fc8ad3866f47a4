/*
 * Allreduce by recursive doubling.
 *
 * Ranks that differ in bit k exchange their whole results in round k and fold them, the lower
 * rank's on the left, so the operation need not commute. If P is no power of two, pairs of
 * neighbours fold first and one of each continues. Cost: ceil(log2 P) * (alpha + n beta + n gamma),
 * two rounds more for P no power of two. Best for short messages.
 */
#include "mpi/coll/coll_internal.h"

static int exchange(struct mpi_rank *self, struct mpi_comm *c, const struct mpi_coll_args *a,
                    void *in, int peer)
{
    int rc = mpi_coll_sendrecv(self, c, a->rbuf, a->rcount, a->rtype, peer, in, a->rcount, a->rtype,
                               peer, MPI_TAG_ALLREDUCE);
    return rc ? rc : coll_fold(a, a->rbuf, in, a->rcount, peer < a->rank);
}

/* A rank that continues. */
static int run_power(struct mpi_rank *self, struct mpi_comm *c, const struct mpi_coll_args *a,
                     const struct coll_pow2 *p)
{
    void *in = coll_items_alloc(a, a->rtype, a->rcount);
    int rc = MPI_SUCCESS;

    if (p->me < p->rem) {
        rc |= mpi_coll_recv(self, c, in, a->rcount, a->rtype, a->rank - 1, MPI_TAG_ALLREDUCE);
        if (!rc)
            rc = coll_fold(a, a->rbuf, in, a->rcount, 1);
    }
    for (int mask = 1; mask < p->pow2; mask <<= 1)
        rc |= exchange(self, c, a, in, coll_pow2_rank(p, p->me ^ mask));
    coll_items_free(in, a->rtype, a->rcount);
    if (p->me < p->rem)
        rc |= mpi_coll_send(self, c, a->rbuf, a->rcount, a->rtype, a->rank - 1, MPI_TAG_ALLREDUCE);
    return rc;
}

int coll_allreduce_recursive_doubling(struct mpi_rank *self, struct mpi_comm *c,
                                      const struct mpi_coll_args *a)
{
    struct coll_pow2 p;

    coll_pow2_init(&p, a);
    if (p.me >= 0) {
        if (a->sbuf != MPI_IN_PLACE)
            coll_copy(a->sbuf, a->rbuf, a->rcount, a->rtype);
        return run_power(self, c, a, &p);
    }
    int rc = mpi_coll_send(self, c, coll_source(a), a->rcount, a->rtype, a->rank + 1,
                           MPI_TAG_ALLREDUCE);

    return rc |
           mpi_coll_recv(self, c, a->rbuf, a->rcount, a->rtype, a->rank + 1, MPI_TAG_ALLREDUCE);
}
