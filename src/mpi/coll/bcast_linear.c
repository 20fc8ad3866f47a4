/*
 * Linear broadcast: the root sends to every rank itself, with COLL_WINDOW sends in flight at a
 * time.
 *
 * Cost: alpha + (P - 2) o + n beta where the sender's link does not limit, else (P - 1) * n beta.
 */
#include "mpi/coll/coll_internal.h"

/* Starts sends to the ranks from *next on, at most COLL_WINDOW; returns how many. */
static uint32_t send_window(struct mpi_rank *self, struct mpi_comm *c,
                            const struct mpi_coll_args *a, struct mpi_req *reqs, int *next)
{
    uint32_t n = 0;

    for (; *next < a->size && n < COLL_WINDOW; ++*next)
        if (*next != a->rank)
            mpi_coll_isend(self, c, &reqs[n++], a->rbuf, a->rcount, a->rtype, *next, MPI_TAG_BCAST);
    return n;
}

int coll_bcast_linear(struct mpi_rank *self, struct mpi_comm *c, const struct mpi_coll_args *a)
{
    int rc = MPI_SUCCESS;

    if (a->rank != a->root)
        return mpi_coll_recv(self, c, a->rbuf, a->rcount, a->rtype, a->root, MPI_TAG_BCAST);
    struct mpi_req *reqs = (struct mpi_req *)mem_alloc((size_t)coll_min(a->size, COLL_WINDOW) *
                                                       sizeof *reqs);
    for (int next = 0; next < a->size;)
        rc |= mpi_p2p_waitall(self, reqs, send_window(self, c, a, reqs, &next));
    mem_free(reqs);
    return rc;
}
