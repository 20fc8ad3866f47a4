/*
 * inter_bcast.c - barrier and broadcast between two groups, and the exchange that all-to-all
 * operations end with.
 *
 *     bcast    the root sends to rank 0 of the other group, which broadcasts there
 *     barrier  a barrier in each group, then a byte across from each rank 0 to all of the other
 *     swap     two broadcasts, one after the other
 *
 * Cost of a broadcast: alpha + n beta, and that of the local one.
 */
#include "mpi/coll/inter.h"

int inter_bcast_local_bcast(struct mpi_rank *self, struct mpi_comm *c,
                            const struct mpi_coll_args *a)
{
    int rc = MPI_SUCCESS;

    if (a->root == MPI_ROOT)
        return mpi_coll_send(self, c, a->rbuf, a->rcount, a->rtype, 0, MPI_TAG_BCAST);
    if (a->rank == 0)
        rc = mpi_coll_recv(self, c, a->rbuf, a->rcount, a->rtype, a->root, MPI_TAG_BCAST);
    return rc | mpi_coll_bcast(self, c->local, a->rbuf, a->rcount, a->rtype, 0);
}

static int give(struct mpi_rank *self, struct mpi_comm *c, const struct inter_swap *s, int tag)
{
    if (mpi_comm_my_rank(c, self))
        return MPI_SUCCESS;
    return mpi_coll_send(self, c, s->sbuf, s->scount, s->stype, 0, tag);
}

static int take(struct mpi_rank *self, struct mpi_comm *c, const struct inter_swap *s, int tag)
{
    int rc = MPI_SUCCESS;

    if (mpi_comm_my_rank(c, self) == 0)
        rc = mpi_coll_recv(self, c, s->rbuf, s->rcount, s->rtype, 0, tag);
    return rc | mpi_coll_bcast(self, c->local, s->rbuf, s->rcount, s->rtype, 0);
}

int inter_swap(struct mpi_rank *self, struct mpi_comm *c, const struct inter_swap *s, int tag)
{
    int rc = c->high ? take(self, c, s, tag) : give(self, c, s, tag);

    return rc | (c->high ? give(self, c, s, tag) : take(self, c, s, tag));
}

int inter_barrier_bcast(struct mpi_rank *self, struct mpi_comm *c, const struct mpi_coll_args *a)
{
    char *bytes = mem_zalloc(2); /* must not be on the stack, which may be a strand's */
    struct inter_swap s = {&bytes[0], 1, coll_byte(), &bytes[1], 1, coll_byte()};
    int rc = mpi_coll_barrier(self, c->local);

    (void)a;
    rc |= inter_swap(self, c, &s, MPI_TAG_BARRIER);
    mem_free(bytes);
    return rc;
}
