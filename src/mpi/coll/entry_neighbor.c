/*
 * entry_neighbor.c - the neighbourhood collectives, blocking, non-blocking and persistent.
 */
#include "mpi/coll/entry_check.h"
#include "mpi_impl.h"

int mpi_neighbor_allgather_c(struct mpi_rank *self, const void *sendbuf, MPI_Count sendcount,
                             MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount,
                             MPI_Datatype recvtype, MPI_Comm comm)
{
    struct mpi_coll_args a = {.sbuf = sendbuf, .scount = (uint64_t)sendcount,
                              .stype = mpi_type_get(sendtype), .rbuf = recvbuf,
                              .rcount = (uint64_t)recvcount, .rtype = mpi_type_get(recvtype),
                              .op_id = MPI_COLL_neighbor_allgather};

    return coll_now(self, comm, &a, coll_check_neighbor(self, comm, &a));
}

int mpi_ineighbor_allgather_c(struct mpi_rank *self, const void *sendbuf, MPI_Count sendcount,
                              MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount,
                              MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request)
{
    struct mpi_coll_args a = {.sbuf = sendbuf, .scount = (uint64_t)sendcount,
                              .stype = mpi_type_get(sendtype), .rbuf = recvbuf,
                              .rcount = (uint64_t)recvcount, .rtype = mpi_type_get(recvtype),
                              .op_id = MPI_COLL_neighbor_allgather};

    return coll_later(self, comm, &a, coll_check_neighbor(self, comm, &a), request);
}

int mpi_neighbor_allgather_init_c(struct mpi_rank *self, const void *sendbuf, MPI_Count sendcount,
                                  MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount,
                                  MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
                                  MPI_Request *request)
{
    struct mpi_coll_args a = {.sbuf = sendbuf, .scount = (uint64_t)sendcount,
                              .stype = mpi_type_get(sendtype), .rbuf = recvbuf,
                              .rcount = (uint64_t)recvcount, .rtype = mpi_type_get(recvtype),
                              .op_id = MPI_COLL_neighbor_allgather};

    return coll_prepare(self, comm, &a, info, coll_check_neighbor(self, comm, &a), request);
}

int mpi_neighbor_allgatherv(struct mpi_rank *self, const void *sendbuf, int sendcount,
                            MPI_Datatype sendtype, void *recvbuf, const int recvcounts[],
                            const int displs[], MPI_Datatype recvtype, MPI_Comm comm)
{
    struct mpi_coll_args a = {.sbuf = sendbuf, .scount = (uint64_t)sendcount,
                              .stype = mpi_type_get(sendtype), .rbuf = recvbuf,
                              .rcounts = recvcounts, .rdispls = displs,
                              .rtype = mpi_type_get(recvtype),
                              .op_id = MPI_COLL_neighbor_allgatherv};

    return coll_now(self, comm, &a, coll_check_neighbor(self, comm, &a));
}

int mpi_neighbor_allgatherv_c(struct mpi_rank *self, const void *sendbuf, MPI_Count sendcount,
                              MPI_Datatype sendtype, void *recvbuf, const MPI_Count recvcounts[],
                              const MPI_Aint displs[], MPI_Datatype recvtype, MPI_Comm comm)
{
    struct mpi_coll_args a = {.sbuf = sendbuf, .scount = (uint64_t)sendcount,
                              .stype = mpi_type_get(sendtype), .rbuf = recvbuf,
                              .rcounts = recvcounts, .rdispls = displs,
                              .rtype = mpi_type_get(recvtype),
                              .op_id = MPI_COLL_neighbor_allgatherv, .arrays = COLL_WIDE};

    return coll_now(self, comm, &a, coll_check_neighbor(self, comm, &a));
}

int mpi_ineighbor_allgatherv(struct mpi_rank *self, const void *sendbuf, int sendcount,
                             MPI_Datatype sendtype, void *recvbuf, const int recvcounts[],
                             const int displs[], MPI_Datatype recvtype, MPI_Comm comm,
                             MPI_Request *request)
{
    struct mpi_coll_args a = {.sbuf = sendbuf, .scount = (uint64_t)sendcount,
                              .stype = mpi_type_get(sendtype), .rbuf = recvbuf,
                              .rcounts = recvcounts, .rdispls = displs,
                              .rtype = mpi_type_get(recvtype),
                              .op_id = MPI_COLL_neighbor_allgatherv};

    return coll_later(self, comm, &a, coll_check_neighbor(self, comm, &a), request);
}

int mpi_ineighbor_allgatherv_c(struct mpi_rank *self, const void *sendbuf, MPI_Count sendcount,
                               MPI_Datatype sendtype, void *recvbuf, const MPI_Count recvcounts[],
                               const MPI_Aint displs[], MPI_Datatype recvtype, MPI_Comm comm,
                               MPI_Request *request)
{
    struct mpi_coll_args a = {.sbuf = sendbuf, .scount = (uint64_t)sendcount,
                              .stype = mpi_type_get(sendtype), .rbuf = recvbuf,
                              .rcounts = recvcounts, .rdispls = displs,
                              .rtype = mpi_type_get(recvtype),
                              .op_id = MPI_COLL_neighbor_allgatherv, .arrays = COLL_WIDE};

    return coll_later(self, comm, &a, coll_check_neighbor(self, comm, &a), request);
}

int mpi_neighbor_allgatherv_init(struct mpi_rank *self, const void *sendbuf, int sendcount,
                                 MPI_Datatype sendtype, void *recvbuf, const int recvcounts[],
                                 const int displs[], MPI_Datatype recvtype, MPI_Comm comm,
                                 MPI_Info info, MPI_Request *request)
{
    struct mpi_coll_args a = {.sbuf = sendbuf, .scount = (uint64_t)sendcount,
                              .stype = mpi_type_get(sendtype), .rbuf = recvbuf,
                              .rcounts = recvcounts, .rdispls = displs,
                              .rtype = mpi_type_get(recvtype),
                              .op_id = MPI_COLL_neighbor_allgatherv};

    return coll_prepare(self, comm, &a, info, coll_check_neighbor(self, comm, &a), request);
}

int mpi_neighbor_allgatherv_init_c(struct mpi_rank *self, const void *sendbuf, MPI_Count sendcount,
                                   MPI_Datatype sendtype, void *recvbuf,
                                   const MPI_Count recvcounts[], const MPI_Aint displs[],
                                   MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
                                   MPI_Request *request)
{
    struct mpi_coll_args a = {.sbuf = sendbuf, .scount = (uint64_t)sendcount,
                              .stype = mpi_type_get(sendtype), .rbuf = recvbuf,
                              .rcounts = recvcounts, .rdispls = displs,
                              .rtype = mpi_type_get(recvtype),
                              .op_id = MPI_COLL_neighbor_allgatherv, .arrays = COLL_WIDE};

    return coll_prepare(self, comm, &a, info, coll_check_neighbor(self, comm, &a), request);
}

int mpi_neighbor_alltoall_c(struct mpi_rank *self, const void *sendbuf, MPI_Count sendcount,
                            MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount,
                            MPI_Datatype recvtype, MPI_Comm comm)
{
    struct mpi_coll_args a = {.sbuf = sendbuf, .scount = (uint64_t)sendcount,
                              .stype = mpi_type_get(sendtype), .rbuf = recvbuf,
                              .rcount = (uint64_t)recvcount, .rtype = mpi_type_get(recvtype),
                              .op_id = MPI_COLL_neighbor_alltoall};

    return coll_now(self, comm, &a, coll_check_neighbor(self, comm, &a));
}

int mpi_ineighbor_alltoall_c(struct mpi_rank *self, const void *sendbuf, MPI_Count sendcount,
                             MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount,
                             MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request)
{
    struct mpi_coll_args a = {.sbuf = sendbuf, .scount = (uint64_t)sendcount,
                              .stype = mpi_type_get(sendtype), .rbuf = recvbuf,
                              .rcount = (uint64_t)recvcount, .rtype = mpi_type_get(recvtype),
                              .op_id = MPI_COLL_neighbor_alltoall};

    return coll_later(self, comm, &a, coll_check_neighbor(self, comm, &a), request);
}

int mpi_neighbor_alltoall_init_c(struct mpi_rank *self, const void *sendbuf, MPI_Count sendcount,
                                 MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount,
                                 MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
                                 MPI_Request *request)
{
    struct mpi_coll_args a = {.sbuf = sendbuf, .scount = (uint64_t)sendcount,
                              .stype = mpi_type_get(sendtype), .rbuf = recvbuf,
                              .rcount = (uint64_t)recvcount, .rtype = mpi_type_get(recvtype),
                              .op_id = MPI_COLL_neighbor_alltoall};

    return coll_prepare(self, comm, &a, info, coll_check_neighbor(self, comm, &a), request);
}

int mpi_neighbor_alltoallv(struct mpi_rank *self, const void *sendbuf, const int sendcounts[],
                           const int sdispls[], MPI_Datatype sendtype, void *recvbuf,
                           const int recvcounts[], const int rdispls[], MPI_Datatype recvtype,
                           MPI_Comm comm)
{
    struct mpi_coll_args a = {.sbuf = sendbuf, .scounts = sendcounts, .sdispls = sdispls,
                              .stype = mpi_type_get(sendtype), .rbuf = recvbuf,
                              .rcounts = recvcounts, .rdispls = rdispls,
                              .rtype = mpi_type_get(recvtype),
                              .op_id = MPI_COLL_neighbor_alltoallv};

    return coll_now(self, comm, &a, coll_check_neighbor(self, comm, &a));
}

int mpi_neighbor_alltoallv_c(struct mpi_rank *self, const void *sendbuf,
                             const MPI_Count sendcounts[], const MPI_Aint sdispls[],
                             MPI_Datatype sendtype, void *recvbuf, const MPI_Count recvcounts[],
                             const MPI_Aint rdispls[], MPI_Datatype recvtype, MPI_Comm comm)
{
    struct mpi_coll_args a = {.sbuf = sendbuf, .scounts = sendcounts, .sdispls = sdispls,
                              .stype = mpi_type_get(sendtype), .rbuf = recvbuf,
                              .rcounts = recvcounts, .rdispls = rdispls,
                              .rtype = mpi_type_get(recvtype), .op_id = MPI_COLL_neighbor_alltoallv,
                              .arrays = COLL_WIDE};

    return coll_now(self, comm, &a, coll_check_neighbor(self, comm, &a));
}

int mpi_ineighbor_alltoallv(struct mpi_rank *self, const void *sendbuf, const int sendcounts[],
                            const int sdispls[], MPI_Datatype sendtype, void *recvbuf,
                            const int recvcounts[], const int rdispls[], MPI_Datatype recvtype,
                            MPI_Comm comm, MPI_Request *request)
{
    struct mpi_coll_args a = {.sbuf = sendbuf, .scounts = sendcounts, .sdispls = sdispls,
                              .stype = mpi_type_get(sendtype), .rbuf = recvbuf,
                              .rcounts = recvcounts, .rdispls = rdispls,
                              .rtype = mpi_type_get(recvtype),
                              .op_id = MPI_COLL_neighbor_alltoallv};

    return coll_later(self, comm, &a, coll_check_neighbor(self, comm, &a), request);
}

int mpi_ineighbor_alltoallv_c(struct mpi_rank *self, const void *sendbuf,
                              const MPI_Count sendcounts[], const MPI_Aint sdispls[],
                              MPI_Datatype sendtype, void *recvbuf, const MPI_Count recvcounts[],
                              const MPI_Aint rdispls[], MPI_Datatype recvtype, MPI_Comm comm,
                              MPI_Request *request)
{
    struct mpi_coll_args a = {.sbuf = sendbuf, .scounts = sendcounts, .sdispls = sdispls,
                              .stype = mpi_type_get(sendtype), .rbuf = recvbuf,
                              .rcounts = recvcounts, .rdispls = rdispls,
                              .rtype = mpi_type_get(recvtype), .op_id = MPI_COLL_neighbor_alltoallv,
                              .arrays = COLL_WIDE};

    return coll_later(self, comm, &a, coll_check_neighbor(self, comm, &a), request);
}

int mpi_neighbor_alltoallv_init(struct mpi_rank *self, const void *sendbuf, const int sendcounts[],
                                const int sdispls[], MPI_Datatype sendtype, void *recvbuf,
                                const int recvcounts[], const int rdispls[], MPI_Datatype recvtype,
                                MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    struct mpi_coll_args a = {.sbuf = sendbuf, .scounts = sendcounts, .sdispls = sdispls,
                              .stype = mpi_type_get(sendtype), .rbuf = recvbuf,
                              .rcounts = recvcounts, .rdispls = rdispls,
                              .rtype = mpi_type_get(recvtype),
                              .op_id = MPI_COLL_neighbor_alltoallv};

    return coll_prepare(self, comm, &a, info, coll_check_neighbor(self, comm, &a), request);
}

int mpi_neighbor_alltoallv_init_c(struct mpi_rank *self, const void *sendbuf,
                                  const MPI_Count sendcounts[], const MPI_Aint sdispls[],
                                  MPI_Datatype sendtype, void *recvbuf,
                                  const MPI_Count recvcounts[], const MPI_Aint rdispls[],
                                  MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
                                  MPI_Request *request)
{
    struct mpi_coll_args a = {.sbuf = sendbuf, .scounts = sendcounts, .sdispls = sdispls,
                              .stype = mpi_type_get(sendtype), .rbuf = recvbuf,
                              .rcounts = recvcounts, .rdispls = rdispls,
                              .rtype = mpi_type_get(recvtype), .op_id = MPI_COLL_neighbor_alltoallv,
                              .arrays = COLL_WIDE};

    return coll_prepare(self, comm, &a, info, coll_check_neighbor(self, comm, &a), request);
}

int mpi_neighbor_alltoallw(struct mpi_rank *self, const void *sendbuf, const int sendcounts[],
                           const MPI_Aint sdispls[], const MPI_Datatype sendtypes[], void *recvbuf,
                           const int recvcounts[], const MPI_Aint rdispls[],
                           const MPI_Datatype recvtypes[], MPI_Comm comm)
{
    struct mpi_coll_args a = {.sbuf = sendbuf, .scounts = sendcounts, .sdispls = sdispls,
                              .stypes = sendtypes, .rbuf = recvbuf, .rcounts = recvcounts,
                              .rdispls = rdispls, .rtypes = recvtypes,
                              .op_id = MPI_COLL_neighbor_alltoallw, .arrays = COLL_WIDE_DISPLS};

    return coll_now(self, comm, &a, coll_check_neighbor(self, comm, &a));
}

int mpi_neighbor_alltoallw_c(struct mpi_rank *self, const void *sendbuf,
                             const MPI_Count sendcounts[], const MPI_Aint sdispls[],
                             const MPI_Datatype sendtypes[], void *recvbuf,
                             const MPI_Count recvcounts[], const MPI_Aint rdispls[],
                             const MPI_Datatype recvtypes[], MPI_Comm comm)
{
    struct mpi_coll_args a = {.sbuf = sendbuf, .scounts = sendcounts, .sdispls = sdispls,
                              .stypes = sendtypes, .rbuf = recvbuf, .rcounts = recvcounts,
                              .rdispls = rdispls, .rtypes = recvtypes,
                              .op_id = MPI_COLL_neighbor_alltoallw, .arrays = COLL_WIDE};

    return coll_now(self, comm, &a, coll_check_neighbor(self, comm, &a));
}

int mpi_ineighbor_alltoallw(struct mpi_rank *self, const void *sendbuf, const int sendcounts[],
                            const MPI_Aint sdispls[], const MPI_Datatype sendtypes[], void *recvbuf,
                            const int recvcounts[], const MPI_Aint rdispls[],
                            const MPI_Datatype recvtypes[], MPI_Comm comm, MPI_Request *request)
{
    struct mpi_coll_args a = {.sbuf = sendbuf, .scounts = sendcounts, .sdispls = sdispls,
                              .stypes = sendtypes, .rbuf = recvbuf, .rcounts = recvcounts,
                              .rdispls = rdispls, .rtypes = recvtypes,
                              .op_id = MPI_COLL_neighbor_alltoallw, .arrays = COLL_WIDE_DISPLS};

    return coll_later(self, comm, &a, coll_check_neighbor(self, comm, &a), request);
}

int mpi_ineighbor_alltoallw_c(struct mpi_rank *self, const void *sendbuf,
                              const MPI_Count sendcounts[], const MPI_Aint sdispls[],
                              const MPI_Datatype sendtypes[], void *recvbuf,
                              const MPI_Count recvcounts[], const MPI_Aint rdispls[],
                              const MPI_Datatype recvtypes[], MPI_Comm comm, MPI_Request *request)
{
    struct mpi_coll_args a = {.sbuf = sendbuf, .scounts = sendcounts, .sdispls = sdispls,
                              .stypes = sendtypes, .rbuf = recvbuf, .rcounts = recvcounts,
                              .rdispls = rdispls, .rtypes = recvtypes,
                              .op_id = MPI_COLL_neighbor_alltoallw, .arrays = COLL_WIDE};

    return coll_later(self, comm, &a, coll_check_neighbor(self, comm, &a), request);
}

int mpi_neighbor_alltoallw_init(struct mpi_rank *self, const void *sendbuf, const int sendcounts[],
                                const MPI_Aint sdispls[], const MPI_Datatype sendtypes[],
                                void *recvbuf, const int recvcounts[], const MPI_Aint rdispls[],
                                const MPI_Datatype recvtypes[], MPI_Comm comm, MPI_Info info,
                                MPI_Request *request)
{
    struct mpi_coll_args a = {.sbuf = sendbuf, .scounts = sendcounts, .sdispls = sdispls,
                              .stypes = sendtypes, .rbuf = recvbuf, .rcounts = recvcounts,
                              .rdispls = rdispls, .rtypes = recvtypes,
                              .op_id = MPI_COLL_neighbor_alltoallw, .arrays = COLL_WIDE_DISPLS};

    return coll_prepare(self, comm, &a, info, coll_check_neighbor(self, comm, &a), request);
}

int mpi_neighbor_alltoallw_init_c(struct mpi_rank *self, const void *sendbuf,
                                  const MPI_Count sendcounts[], const MPI_Aint sdispls[],
                                  const MPI_Datatype sendtypes[], void *recvbuf,
                                  const MPI_Count recvcounts[], const MPI_Aint rdispls[],
                                  const MPI_Datatype recvtypes[], MPI_Comm comm, MPI_Info info,
                                  MPI_Request *request)
{
    struct mpi_coll_args a = {.sbuf = sendbuf, .scounts = sendcounts, .sdispls = sdispls,
                              .stypes = sendtypes, .rbuf = recvbuf, .rcounts = recvcounts,
                              .rdispls = rdispls, .rtypes = recvtypes,
                              .op_id = MPI_COLL_neighbor_alltoallw, .arrays = COLL_WIDE};

    return coll_prepare(self, comm, &a, info, coll_check_neighbor(self, comm, &a), request);
}
