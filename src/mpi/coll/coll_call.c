/*
 * coll_call.c - collectives for the rest of the virtual MPI: arguments gathered, then run.
 *
 * The arguments live in these frames while the algorithm blocks; the compiler cannot make tail
 * calls here, so each frame is the arguments and a return address.
 */
#include "mpi/coll/coll_internal.h"

#define PLACE(operation, c, self) \
    .rank = mpi_comm_my_rank(c, self), .size = (int)(c)->group->size, .op_id = MPI_COLL_##operation

int mpi_coll_bcast(struct mpi_rank *self, struct mpi_comm *c, void *buf, uint64_t count,
                   struct mpi_type *type, int root)
{
    struct mpi_coll_args a = {.rbuf = buf,
                              .rcount = count,
                              .rtype = type,
                              .root = root,
                              PLACE(bcast, c, self)};
    return mpi_coll_run(self, c, &a);
}

int mpi_coll_gather(struct mpi_rank *self, struct mpi_comm *c, const void *sbuf, uint64_t scount,
                    struct mpi_type *stype, void *rbuf, uint64_t rcount, struct mpi_type *rtype,
                    int root)
{
    struct mpi_coll_args a = {.sbuf = sbuf,
                              .scount = scount,
                              .stype = stype,
                              .rbuf = rbuf,
                              .rcount = rcount,
                              .rtype = rtype,
                              .root = root,
                              PLACE(gather, c, self)};
    return mpi_coll_run(self, c, &a);
}

int mpi_coll_scatter(struct mpi_rank *self, struct mpi_comm *c, const void *sbuf, uint64_t scount,
                     struct mpi_type *stype, void *rbuf, uint64_t rcount, struct mpi_type *rtype,
                     int root)
{
    struct mpi_coll_args a = {.sbuf = sbuf,
                              .scount = scount,
                              .stype = stype,
                              .rbuf = rbuf,
                              .rcount = rcount,
                              .rtype = rtype,
                              .root = root,
                              PLACE(scatter, c, self)};
    return mpi_coll_run(self, c, &a);
}

int mpi_coll_reduce(struct mpi_rank *self, struct mpi_comm *c, const void *sbuf, void *rbuf,
                    uint64_t count, struct mpi_type *type, struct mpi_op *op, int root)
{
    struct mpi_coll_args a = {.sbuf = sbuf,
                              .rbuf = rbuf,
                              .rcount = count,
                              .rtype = type,
                              .op = op,
                              .root = root,
                              PLACE(reduce, c, self)};
    return mpi_coll_run(self, c, &a);
}

int mpi_coll_allreduce(struct mpi_rank *self, struct mpi_comm *c, const void *sbuf, void *rbuf,
                       uint64_t count, struct mpi_type *type, struct mpi_op *op)
{
    struct mpi_coll_args a = {.sbuf = sbuf,
                              .rbuf = rbuf,
                              .rcount = count,
                              .rtype = type,
                              .op = op,
                              PLACE(allreduce, c, self)};
    return mpi_coll_run(self, c, &a);
}

int mpi_coll_exscan(struct mpi_rank *self, struct mpi_comm *c, const void *sbuf, void *rbuf,
                    uint64_t count, struct mpi_type *type, struct mpi_op *op)
{
    struct mpi_coll_args a = {.sbuf = sbuf,
                              .rbuf = rbuf,
                              .rcount = count,
                              .rtype = type,
                              .op = op,
                              PLACE(exscan, c, self)};
    return mpi_coll_run(self, c, &a);
}
