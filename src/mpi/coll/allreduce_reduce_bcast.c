/*
 * Allreduce as a reduction to rank 0 and a broadcast from it, one after the other.
 *
 * Cost with binomial trees (reduce_bcast): 2 ceil(log2 P) * (alpha + n beta) + ceil(log2 P) * n
 * gamma; linear: 2 alpha + 2 (P - 1) * n beta + (P - 1) * n gamma. Operations need not commute.
 */
#include "mpi/coll/coll_internal.h"

typedef int algorithm(struct mpi_rank *, struct mpi_comm *, const struct mpi_coll_args *);

static int run(struct mpi_rank *self, struct mpi_comm *c, const struct mpi_coll_args *a,
               algorithm *reduce, algorithm *bcast)
{
    struct mpi_coll_args part = *a;

    part.op_id = MPI_COLL_reduce;
    part.root = 0;
    int rc = reduce(self, c, &part);
    part.op_id = MPI_COLL_bcast;
    return rc ? rc : bcast(self, c, &part);
}

int coll_allreduce_reduce_bcast(struct mpi_rank *self, struct mpi_comm *c,
                                const struct mpi_coll_args *a)
{
    return run(self, c, a, coll_reduce_binomial, coll_bcast_binomial);
}

int coll_allreduce_linear(struct mpi_rank *self, struct mpi_comm *c, const struct mpi_coll_args *a)
{
    return run(self, c, a, coll_reduce_linear, coll_bcast_linear);
}
