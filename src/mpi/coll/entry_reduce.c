/*
 * entry_reduce.c - the reductions, a row per call; each blocking, non-blocking and persistent.
 * Forms with one int count are these, widened.
 */
#include "mpi/coll/entry_check.h"
#include "mpi_impl.h"

#define ITEMS const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op
#define ITEMS_ARGS                                                                                \
    .sbuf = sendbuf, .rbuf = recvbuf, .rcount = (uint64_t)count, .rtype = mpi_type_get(datatype), \
    .op = mpi_op_get(op)

#define PARTS(count) \
    const void *sendbuf, void *recvbuf, const count counts[], MPI_Datatype datatype, MPI_Op op
#define PARTS_ARGS                                                                        \
    .sbuf = sendbuf, .rbuf = recvbuf, .rcounts = counts, .rtype = mpi_type_get(datatype), \
    .op = mpi_op_get(op)

#define LIST(...) __VA_ARGS__

COLL_ENTRIES(reduce, _c, coll_check_reduce, LIST(ITEMS, int root), LIST(ITEMS_ARGS, .root = root))
COLL_ENTRIES(allreduce, _c, coll_check_fold, ITEMS, ITEMS_ARGS)
COLL_ENTRIES(scan, _c, coll_check_fold, ITEMS, ITEMS_ARGS)
COLL_ENTRIES(exscan, _c, coll_check_fold, ITEMS, ITEMS_ARGS)
COLL_ENTRIES(reduce_scatter_block, _c, coll_check_fold, ITEMS, ITEMS_ARGS)
COLL_ENTRIES(reduce_scatter, , coll_check_fold, PARTS(int), PARTS_ARGS)
COLL_ENTRIES(reduce_scatter, _c, coll_check_fold, PARTS(MPI_Count),
             LIST(PARTS_ARGS, .arrays = COLL_WIDE))

/* As in every reduction, a side of an intercommunicator gets what the other side gives. */
int mpi_coll_agree(struct mpi_rank *self, MPI_Comm comm, int *flag)
{
    int mine = *flag;
    struct mpi_coll_args a = {.sbuf = &mine,
                              .rbuf = flag,
                              .rcount = 1,
                              .rtype = mpi_type_get(MPI_INT),
                              .op = mpi_op_get(MPI_BAND),
                              .op_id = MPI_COLL_allreduce};

    return coll_now_real(self, comm, &a, coll_check_fold(self, comm, &a));
}
