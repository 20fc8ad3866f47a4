/*
 * entry_reduce.c - the reductions: reduce, allreduce, scan, exscan, reduce_scatter_block,
 * reduce_scatter; each blocking, non-blocking and persistent. The forms with one int count are
 * these, widened.
 */
#include "mpi/coll/entry_check.h"
#include "mpi_impl.h"

int mpi_reduce_c(struct mpi_rank *self, const void *sendbuf, void *recvbuf, MPI_Count count,
                 MPI_Datatype datatype, MPI_Op op, int root, MPI_Comm comm)
{
    struct mpi_coll_args a = {.sbuf = sendbuf, .rbuf = recvbuf, .rcount = (uint64_t)count,
                              .rtype = mpi_type_get(datatype), .op = mpi_op_get(op), .root = root,
                              .op_id = MPI_COLL_reduce};

    return coll_now(self, comm, &a, coll_check_reduce(self, comm, &a));
}

int mpi_ireduce_c(struct mpi_rank *self, const void *sendbuf, void *recvbuf, MPI_Count count,
                  MPI_Datatype datatype, MPI_Op op, int root, MPI_Comm comm, MPI_Request *request)
{
    struct mpi_coll_args a = {.sbuf = sendbuf, .rbuf = recvbuf, .rcount = (uint64_t)count,
                              .rtype = mpi_type_get(datatype), .op = mpi_op_get(op), .root = root,
                              .op_id = MPI_COLL_reduce};

    return coll_later(self, comm, &a, coll_check_reduce(self, comm, &a), request);
}

int mpi_reduce_init_c(struct mpi_rank *self, const void *sendbuf, void *recvbuf, MPI_Count count,
                      MPI_Datatype datatype, MPI_Op op, int root, MPI_Comm comm, MPI_Info info,
                      MPI_Request *request)
{
    struct mpi_coll_args a = {.sbuf = sendbuf, .rbuf = recvbuf, .rcount = (uint64_t)count,
                              .rtype = mpi_type_get(datatype), .op = mpi_op_get(op), .root = root,
                              .op_id = MPI_COLL_reduce};

    return coll_prepare(self, comm, &a, info, coll_check_reduce(self, comm, &a), request);
}

int mpi_allreduce_c(struct mpi_rank *self, const void *sendbuf, void *recvbuf, MPI_Count count,
                    MPI_Datatype datatype, MPI_Op op, MPI_Comm comm)
{
    struct mpi_coll_args a = {.sbuf = sendbuf, .rbuf = recvbuf, .rcount = (uint64_t)count,
                              .rtype = mpi_type_get(datatype), .op = mpi_op_get(op),
                              .op_id = MPI_COLL_allreduce};

    return coll_now(self, comm, &a, coll_check_fold(self, comm, &a));
}

int mpi_iallreduce_c(struct mpi_rank *self, const void *sendbuf, void *recvbuf, MPI_Count count,
                     MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Request *request)
{
    struct mpi_coll_args a = {.sbuf = sendbuf, .rbuf = recvbuf, .rcount = (uint64_t)count,
                              .rtype = mpi_type_get(datatype), .op = mpi_op_get(op),
                              .op_id = MPI_COLL_allreduce};

    return coll_later(self, comm, &a, coll_check_fold(self, comm, &a), request);
}

int mpi_allreduce_init_c(struct mpi_rank *self, const void *sendbuf, void *recvbuf, MPI_Count count,
                         MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Info info,
                         MPI_Request *request)
{
    struct mpi_coll_args a = {.sbuf = sendbuf, .rbuf = recvbuf, .rcount = (uint64_t)count,
                              .rtype = mpi_type_get(datatype), .op = mpi_op_get(op),
                              .op_id = MPI_COLL_allreduce};

    return coll_prepare(self, comm, &a, info, coll_check_fold(self, comm, &a), request);
}

int mpi_scan_c(struct mpi_rank *self, const void *sendbuf, void *recvbuf, MPI_Count count,
               MPI_Datatype datatype, MPI_Op op, MPI_Comm comm)
{
    struct mpi_coll_args a = {.sbuf = sendbuf, .rbuf = recvbuf, .rcount = (uint64_t)count,
                              .rtype = mpi_type_get(datatype), .op = mpi_op_get(op),
                              .op_id = MPI_COLL_scan};

    return coll_now(self, comm, &a, coll_check_fold(self, comm, &a));
}

int mpi_iscan_c(struct mpi_rank *self, const void *sendbuf, void *recvbuf, MPI_Count count,
                MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Request *request)
{
    struct mpi_coll_args a = {.sbuf = sendbuf, .rbuf = recvbuf, .rcount = (uint64_t)count,
                              .rtype = mpi_type_get(datatype), .op = mpi_op_get(op),
                              .op_id = MPI_COLL_scan};

    return coll_later(self, comm, &a, coll_check_fold(self, comm, &a), request);
}

int mpi_scan_init_c(struct mpi_rank *self, const void *sendbuf, void *recvbuf, MPI_Count count,
                    MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Info info,
                    MPI_Request *request)
{
    struct mpi_coll_args a = {.sbuf = sendbuf, .rbuf = recvbuf, .rcount = (uint64_t)count,
                              .rtype = mpi_type_get(datatype), .op = mpi_op_get(op),
                              .op_id = MPI_COLL_scan};

    return coll_prepare(self, comm, &a, info, coll_check_fold(self, comm, &a), request);
}

int mpi_exscan_c(struct mpi_rank *self, const void *sendbuf, void *recvbuf, MPI_Count count,
                 MPI_Datatype datatype, MPI_Op op, MPI_Comm comm)
{
    struct mpi_coll_args a = {.sbuf = sendbuf, .rbuf = recvbuf, .rcount = (uint64_t)count,
                              .rtype = mpi_type_get(datatype), .op = mpi_op_get(op),
                              .op_id = MPI_COLL_exscan};

    return coll_now(self, comm, &a, coll_check_fold(self, comm, &a));
}

int mpi_iexscan_c(struct mpi_rank *self, const void *sendbuf, void *recvbuf, MPI_Count count,
                  MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Request *request)
{
    struct mpi_coll_args a = {.sbuf = sendbuf, .rbuf = recvbuf, .rcount = (uint64_t)count,
                              .rtype = mpi_type_get(datatype), .op = mpi_op_get(op),
                              .op_id = MPI_COLL_exscan};

    return coll_later(self, comm, &a, coll_check_fold(self, comm, &a), request);
}

int mpi_exscan_init_c(struct mpi_rank *self, const void *sendbuf, void *recvbuf, MPI_Count count,
                      MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Info info,
                      MPI_Request *request)
{
    struct mpi_coll_args a = {.sbuf = sendbuf, .rbuf = recvbuf, .rcount = (uint64_t)count,
                              .rtype = mpi_type_get(datatype), .op = mpi_op_get(op),
                              .op_id = MPI_COLL_exscan};

    return coll_prepare(self, comm, &a, info, coll_check_fold(self, comm, &a), request);
}

int mpi_reduce_scatter_block_c(struct mpi_rank *self, const void *sendbuf, void *recvbuf,
                               MPI_Count recvcount, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm)
{
    struct mpi_coll_args a = {.sbuf = sendbuf, .rbuf = recvbuf, .rcount = (uint64_t)recvcount,
                              .rtype = mpi_type_get(datatype), .op = mpi_op_get(op),
                              .op_id = MPI_COLL_reduce_scatter_block};

    return coll_now(self, comm, &a, coll_check_fold(self, comm, &a));
}

int mpi_ireduce_scatter_block_c(struct mpi_rank *self, const void *sendbuf, void *recvbuf,
                                MPI_Count recvcount, MPI_Datatype datatype, MPI_Op op,
                                MPI_Comm comm, MPI_Request *request)
{
    struct mpi_coll_args a = {.sbuf = sendbuf, .rbuf = recvbuf, .rcount = (uint64_t)recvcount,
                              .rtype = mpi_type_get(datatype), .op = mpi_op_get(op),
                              .op_id = MPI_COLL_reduce_scatter_block};

    return coll_later(self, comm, &a, coll_check_fold(self, comm, &a), request);
}

int mpi_reduce_scatter_block_init_c(struct mpi_rank *self, const void *sendbuf, void *recvbuf,
                                    MPI_Count recvcount, MPI_Datatype datatype, MPI_Op op,
                                    MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    struct mpi_coll_args a = {.sbuf = sendbuf, .rbuf = recvbuf, .rcount = (uint64_t)recvcount,
                              .rtype = mpi_type_get(datatype), .op = mpi_op_get(op),
                              .op_id = MPI_COLL_reduce_scatter_block};

    return coll_prepare(self, comm, &a, info, coll_check_fold(self, comm, &a), request);
}

int mpi_reduce_scatter(struct mpi_rank *self, const void *sendbuf, void *recvbuf,
                       const int recvcounts[], MPI_Datatype datatype, MPI_Op op, MPI_Comm comm)
{
    struct mpi_coll_args a = {.sbuf = sendbuf, .rbuf = recvbuf, .rcounts = recvcounts,
                              .rtype = mpi_type_get(datatype), .op = mpi_op_get(op),
                              .op_id = MPI_COLL_reduce_scatter};

    return coll_now(self, comm, &a, coll_check_fold(self, comm, &a));
}

int mpi_reduce_scatter_c(struct mpi_rank *self, const void *sendbuf, void *recvbuf,
                         const MPI_Count recvcounts[], MPI_Datatype datatype, MPI_Op op,
                         MPI_Comm comm)
{
    struct mpi_coll_args a = {.sbuf = sendbuf, .rbuf = recvbuf, .rcounts = recvcounts,
                              .rtype = mpi_type_get(datatype), .op = mpi_op_get(op),
                              .op_id = MPI_COLL_reduce_scatter, .arrays = COLL_WIDE};

    return coll_now(self, comm, &a, coll_check_fold(self, comm, &a));
}

int mpi_ireduce_scatter(struct mpi_rank *self, const void *sendbuf, void *recvbuf,
                        const int recvcounts[], MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
                        MPI_Request *request)
{
    struct mpi_coll_args a = {.sbuf = sendbuf, .rbuf = recvbuf, .rcounts = recvcounts,
                              .rtype = mpi_type_get(datatype), .op = mpi_op_get(op),
                              .op_id = MPI_COLL_reduce_scatter};

    return coll_later(self, comm, &a, coll_check_fold(self, comm, &a), request);
}

int mpi_ireduce_scatter_c(struct mpi_rank *self, const void *sendbuf, void *recvbuf,
                          const MPI_Count recvcounts[], MPI_Datatype datatype, MPI_Op op,
                          MPI_Comm comm, MPI_Request *request)
{
    struct mpi_coll_args a = {.sbuf = sendbuf, .rbuf = recvbuf, .rcounts = recvcounts,
                              .rtype = mpi_type_get(datatype), .op = mpi_op_get(op),
                              .op_id = MPI_COLL_reduce_scatter, .arrays = COLL_WIDE};

    return coll_later(self, comm, &a, coll_check_fold(self, comm, &a), request);
}

int mpi_reduce_scatter_init(struct mpi_rank *self, const void *sendbuf, void *recvbuf,
                            const int recvcounts[], MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
                            MPI_Info info, MPI_Request *request)
{
    struct mpi_coll_args a = {.sbuf = sendbuf, .rbuf = recvbuf, .rcounts = recvcounts,
                              .rtype = mpi_type_get(datatype), .op = mpi_op_get(op),
                              .op_id = MPI_COLL_reduce_scatter};

    return coll_prepare(self, comm, &a, info, coll_check_fold(self, comm, &a), request);
}

int mpi_reduce_scatter_init_c(struct mpi_rank *self, const void *sendbuf, void *recvbuf,
                              const MPI_Count recvcounts[], MPI_Datatype datatype, MPI_Op op,
                              MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    struct mpi_coll_args a = {.sbuf = sendbuf, .rbuf = recvbuf, .rcounts = recvcounts,
                              .rtype = mpi_type_get(datatype), .op = mpi_op_get(op),
                              .op_id = MPI_COLL_reduce_scatter, .arrays = COLL_WIDE};

    return coll_prepare(self, comm, &a, info, coll_check_fold(self, comm, &a), request);
}
