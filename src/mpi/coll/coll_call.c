/*
 * coll_call.c - collectives for the rest of the virtual MPI: arguments gathered, then run.
 *
 * The arguments live in these frames while the algorithm blocks; the compiler cannot make tail
 * calls here, so each frame is the arguments and a return address.
 */
#include "mpi/coll/coll_internal.h"

static inline __attribute__((always_inline)) int move(struct mpi_rank *self, struct mpi_comm *c,
                                                      enum mpi_coll_op operation, const void *sbuf,
                                                      uint64_t scount, struct mpi_type *stype,
                                                      void *rbuf, uint64_t rcount,
                                                      struct mpi_type *rtype, int root)
{
    struct mpi_coll_args a = {.sbuf = sbuf,
                              .scount = scount,
                              .stype = stype,
                              .rbuf = rbuf,
                              .rcount = rcount,
                              .rtype = rtype,
                              .root = root,
                              .rank = mpi_comm_my_rank(c, self),
                              .size = (int)c->group->size,
                              .op_id = (uint16_t)operation};
    return mpi_coll_run(self, c, &a);
}

static inline __attribute__((always_inline)) int
reduce(struct mpi_rank *self, struct mpi_comm *c, enum mpi_coll_op operation, const void *sbuf,
       void *rbuf, uint64_t count, struct mpi_type *type, struct mpi_op *op, int root)
{
    struct mpi_coll_args a = {.sbuf = sbuf,
                              .rbuf = rbuf,
                              .rcount = count,
                              .rtype = type,
                              .op = op,
                              .root = root,
                              .rank = mpi_comm_my_rank(c, self),
                              .size = (int)c->group->size,
                              .op_id = (uint16_t)operation};
    return mpi_coll_run(self, c, &a);
}

int mpi_coll_bcast(struct mpi_rank *self, struct mpi_comm *c, void *buf, uint64_t count,
                   struct mpi_type *type, int root)
{
    return move(self, c, MPI_COLL_bcast, NULL, 0, NULL, buf, count, type, root);
}

int mpi_coll_gather(struct mpi_rank *self, struct mpi_comm *c, const void *sbuf, uint64_t scount,
                    struct mpi_type *stype, void *rbuf, uint64_t rcount, struct mpi_type *rtype,
                    int root)
{
    return move(self, c, MPI_COLL_gather, sbuf, scount, stype, rbuf, rcount, rtype, root);
}

int mpi_coll_scatter(struct mpi_rank *self, struct mpi_comm *c, const void *sbuf, uint64_t scount,
                     struct mpi_type *stype, void *rbuf, uint64_t rcount, struct mpi_type *rtype,
                     int root)
{
    return move(self, c, MPI_COLL_scatter, sbuf, scount, stype, rbuf, rcount, rtype, root);
}

int mpi_coll_reduce(struct mpi_rank *self, struct mpi_comm *c, const void *sbuf, void *rbuf,
                    uint64_t count, struct mpi_type *type, struct mpi_op *op, int root)
{
    return reduce(self, c, MPI_COLL_reduce, sbuf, rbuf, count, type, op, root);
}

int mpi_coll_allreduce(struct mpi_rank *self, struct mpi_comm *c, const void *sbuf, void *rbuf,
                       uint64_t count, struct mpi_type *type, struct mpi_op *op)
{
    return reduce(self, c, MPI_COLL_allreduce, sbuf, rbuf, count, type, op, 0);
}

int mpi_coll_exscan(struct mpi_rank *self, struct mpi_comm *c, const void *sbuf, void *rbuf,
                    uint64_t count, struct mpi_type *type, struct mpi_op *op)
{
    return reduce(self, c, MPI_COLL_exscan, sbuf, rbuf, count, type, op, 0);
}
