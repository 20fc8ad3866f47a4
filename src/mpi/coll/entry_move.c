/*
 * entry_move.c - barrier, bcast and the calls with equal blocks: gather, scatter, allgather,
 * alltoall; each blocking, non-blocking and persistent. The forms with int counts are these,
 * widened.
 */
#include "mpi/coll/entry_check.h"
#include "mpi_impl.h"

int mpi_barrier(struct mpi_rank *self, MPI_Comm comm)
{
    struct mpi_comm *c = mpi_comm_get(comm);

    if (__builtin_expect(!c, 0)) {
        struct mpi_coll_args none = {0};
        return coll_check_comm(self, comm, &none);
    }
    return mpi_coll_barrier(self, c); /* messages without data cannot be truncated */
}

int mpi_ibarrier(struct mpi_rank *self, MPI_Comm comm, MPI_Request *request)
{
    struct mpi_coll_args a = {.op_id = MPI_COLL_barrier};

    return coll_later(self, comm, &a, coll_check_comm(self, comm, &a), request);
}

int mpi_barrier_init(struct mpi_rank *self, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    struct mpi_coll_args a = {.op_id = MPI_COLL_barrier};

    return coll_prepare(self, comm, &a, info, coll_check_comm(self, comm, &a), request);
}

int mpi_bcast_c(struct mpi_rank *self, void *buffer, MPI_Count count, MPI_Datatype datatype,
                int root, MPI_Comm comm)
{
    struct mpi_coll_args a = {.rbuf = buffer, .rcount = (uint64_t)count,
                              .rtype = mpi_type_get(datatype), .root = root,
                              .op_id = MPI_COLL_bcast};

    return coll_now(self, comm, &a, coll_check_bcast(self, comm, &a));
}

int mpi_ibcast_c(struct mpi_rank *self, void *buffer, MPI_Count count, MPI_Datatype datatype,
                 int root, MPI_Comm comm, MPI_Request *request)
{
    struct mpi_coll_args a = {.rbuf = buffer, .rcount = (uint64_t)count,
                              .rtype = mpi_type_get(datatype), .root = root,
                              .op_id = MPI_COLL_bcast};

    return coll_later(self, comm, &a, coll_check_bcast(self, comm, &a), request);
}

int mpi_bcast_init_c(struct mpi_rank *self, void *buffer, MPI_Count count, MPI_Datatype datatype,
                     int root, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    struct mpi_coll_args a = {.rbuf = buffer, .rcount = (uint64_t)count,
                              .rtype = mpi_type_get(datatype), .root = root,
                              .op_id = MPI_COLL_bcast};

    return coll_prepare(self, comm, &a, info, coll_check_bcast(self, comm, &a), request);
}

int mpi_gather_c(struct mpi_rank *self, const void *sendbuf, MPI_Count sendcount,
                 MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
                 int root, MPI_Comm comm)
{
    struct mpi_coll_args a = {.sbuf = sendbuf, .scount = (uint64_t)sendcount,
                              .stype = mpi_type_get(sendtype), .rbuf = recvbuf,
                              .rcount = (uint64_t)recvcount, .rtype = mpi_type_get(recvtype),
                              .root = root, .op_id = MPI_COLL_gather};

    return coll_now(self, comm, &a, coll_check_gather(self, comm, &a));
}

int mpi_igather_c(struct mpi_rank *self, const void *sendbuf, MPI_Count sendcount,
                  MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
                  int root, MPI_Comm comm, MPI_Request *request)
{
    struct mpi_coll_args a = {.sbuf = sendbuf, .scount = (uint64_t)sendcount,
                              .stype = mpi_type_get(sendtype), .rbuf = recvbuf,
                              .rcount = (uint64_t)recvcount, .rtype = mpi_type_get(recvtype),
                              .root = root, .op_id = MPI_COLL_gather};

    return coll_later(self, comm, &a, coll_check_gather(self, comm, &a), request);
}

int mpi_gather_init_c(struct mpi_rank *self, const void *sendbuf, MPI_Count sendcount,
                      MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount,
                      MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info,
                      MPI_Request *request)
{
    struct mpi_coll_args a = {.sbuf = sendbuf, .scount = (uint64_t)sendcount,
                              .stype = mpi_type_get(sendtype), .rbuf = recvbuf,
                              .rcount = (uint64_t)recvcount, .rtype = mpi_type_get(recvtype),
                              .root = root, .op_id = MPI_COLL_gather};

    return coll_prepare(self, comm, &a, info, coll_check_gather(self, comm, &a), request);
}

int mpi_scatter_c(struct mpi_rank *self, const void *sendbuf, MPI_Count sendcount,
                  MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
                  int root, MPI_Comm comm)
{
    struct mpi_coll_args a = {.sbuf = sendbuf, .scount = (uint64_t)sendcount,
                              .stype = mpi_type_get(sendtype), .rbuf = recvbuf,
                              .rcount = (uint64_t)recvcount, .rtype = mpi_type_get(recvtype),
                              .root = root, .op_id = MPI_COLL_scatter};

    return coll_now(self, comm, &a, coll_check_scatter(self, comm, &a));
}

int mpi_iscatter_c(struct mpi_rank *self, const void *sendbuf, MPI_Count sendcount,
                   MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
                   int root, MPI_Comm comm, MPI_Request *request)
{
    struct mpi_coll_args a = {.sbuf = sendbuf, .scount = (uint64_t)sendcount,
                              .stype = mpi_type_get(sendtype), .rbuf = recvbuf,
                              .rcount = (uint64_t)recvcount, .rtype = mpi_type_get(recvtype),
                              .root = root, .op_id = MPI_COLL_scatter};

    return coll_later(self, comm, &a, coll_check_scatter(self, comm, &a), request);
}

int mpi_scatter_init_c(struct mpi_rank *self, const void *sendbuf, MPI_Count sendcount,
                       MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount,
                       MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info,
                       MPI_Request *request)
{
    struct mpi_coll_args a = {.sbuf = sendbuf, .scount = (uint64_t)sendcount,
                              .stype = mpi_type_get(sendtype), .rbuf = recvbuf,
                              .rcount = (uint64_t)recvcount, .rtype = mpi_type_get(recvtype),
                              .root = root, .op_id = MPI_COLL_scatter};

    return coll_prepare(self, comm, &a, info, coll_check_scatter(self, comm, &a), request);
}

int mpi_allgather_c(struct mpi_rank *self, const void *sendbuf, MPI_Count sendcount,
                    MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount,
                    MPI_Datatype recvtype, MPI_Comm comm)
{
    struct mpi_coll_args a = {.sbuf = sendbuf, .scount = (uint64_t)sendcount,
                              .stype = mpi_type_get(sendtype), .rbuf = recvbuf,
                              .rcount = (uint64_t)recvcount, .rtype = mpi_type_get(recvtype),
                              .op_id = MPI_COLL_allgather};

    return coll_now(self, comm, &a, coll_check_all(self, comm, &a));
}

int mpi_iallgather_c(struct mpi_rank *self, const void *sendbuf, MPI_Count sendcount,
                     MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount,
                     MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request)
{
    struct mpi_coll_args a = {.sbuf = sendbuf, .scount = (uint64_t)sendcount,
                              .stype = mpi_type_get(sendtype), .rbuf = recvbuf,
                              .rcount = (uint64_t)recvcount, .rtype = mpi_type_get(recvtype),
                              .op_id = MPI_COLL_allgather};

    return coll_later(self, comm, &a, coll_check_all(self, comm, &a), request);
}

int mpi_allgather_init_c(struct mpi_rank *self, const void *sendbuf, MPI_Count sendcount,
                         MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount,
                         MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    struct mpi_coll_args a = {.sbuf = sendbuf, .scount = (uint64_t)sendcount,
                              .stype = mpi_type_get(sendtype), .rbuf = recvbuf,
                              .rcount = (uint64_t)recvcount, .rtype = mpi_type_get(recvtype),
                              .op_id = MPI_COLL_allgather};

    return coll_prepare(self, comm, &a, info, coll_check_all(self, comm, &a), request);
}

int mpi_alltoall_c(struct mpi_rank *self, const void *sendbuf, MPI_Count sendcount,
                   MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
                   MPI_Comm comm)
{
    struct mpi_coll_args a = {.sbuf = sendbuf, .scount = (uint64_t)sendcount,
                              .stype = mpi_type_get(sendtype), .rbuf = recvbuf,
                              .rcount = (uint64_t)recvcount, .rtype = mpi_type_get(recvtype),
                              .op_id = MPI_COLL_alltoall};

    return coll_now(self, comm, &a, coll_check_all(self, comm, &a));
}

int mpi_ialltoall_c(struct mpi_rank *self, const void *sendbuf, MPI_Count sendcount,
                    MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount,
                    MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request)
{
    struct mpi_coll_args a = {.sbuf = sendbuf, .scount = (uint64_t)sendcount,
                              .stype = mpi_type_get(sendtype), .rbuf = recvbuf,
                              .rcount = (uint64_t)recvcount, .rtype = mpi_type_get(recvtype),
                              .op_id = MPI_COLL_alltoall};

    return coll_later(self, comm, &a, coll_check_all(self, comm, &a), request);
}

int mpi_alltoall_init_c(struct mpi_rank *self, const void *sendbuf, MPI_Count sendcount,
                        MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount,
                        MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    struct mpi_coll_args a = {.sbuf = sendbuf, .scount = (uint64_t)sendcount,
                              .stype = mpi_type_get(sendtype), .rbuf = recvbuf,
                              .rcount = (uint64_t)recvcount, .rtype = mpi_type_get(recvtype),
                              .op_id = MPI_COLL_alltoall};

    return coll_prepare(self, comm, &a, info, coll_check_all(self, comm, &a), request);
}
