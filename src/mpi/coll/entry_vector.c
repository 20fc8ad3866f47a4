/*
 * entry_vector.c - the calls with a count per rank: gatherv, scatterv, allgatherv, alltoallv,
 * alltoallw; each blocking, non-blocking and persistent, with int and with large counts.
 */
#include "mpi/coll/entry_check.h"
#include "mpi_impl.h"

int mpi_gatherv(struct mpi_rank *self, const void *sendbuf, int sendcount, MPI_Datatype sendtype,
                void *recvbuf, const int recvcounts[], const int displs[], MPI_Datatype recvtype,
                int root, MPI_Comm comm)
{
    struct mpi_coll_args a = {.sbuf = sendbuf, .scount = (uint64_t)sendcount,
                              .stype = mpi_type_get(sendtype), .rbuf = recvbuf,
                              .rcounts = recvcounts, .rdispls = displs,
                              .rtype = mpi_type_get(recvtype), .root = root,
                              .op_id = MPI_COLL_gatherv};

    return coll_now(self, comm, &a, coll_check_gather(self, comm, &a));
}

int mpi_gatherv_c(struct mpi_rank *self, const void *sendbuf, MPI_Count sendcount,
                  MPI_Datatype sendtype, void *recvbuf, const MPI_Count recvcounts[],
                  const MPI_Aint displs[], MPI_Datatype recvtype, int root, MPI_Comm comm)
{
    struct mpi_coll_args a = {.sbuf = sendbuf, .scount = (uint64_t)sendcount,
                              .stype = mpi_type_get(sendtype), .rbuf = recvbuf,
                              .rcounts = recvcounts, .rdispls = displs,
                              .rtype = mpi_type_get(recvtype), .root = root,
                              .op_id = MPI_COLL_gatherv, .arrays = COLL_WIDE};

    return coll_now(self, comm, &a, coll_check_gather(self, comm, &a));
}

int mpi_igatherv(struct mpi_rank *self, const void *sendbuf, int sendcount, MPI_Datatype sendtype,
                 void *recvbuf, const int recvcounts[], const int displs[], MPI_Datatype recvtype,
                 int root, MPI_Comm comm, MPI_Request *request)
{
    struct mpi_coll_args a = {.sbuf = sendbuf, .scount = (uint64_t)sendcount,
                              .stype = mpi_type_get(sendtype), .rbuf = recvbuf,
                              .rcounts = recvcounts, .rdispls = displs,
                              .rtype = mpi_type_get(recvtype), .root = root,
                              .op_id = MPI_COLL_gatherv};

    return coll_later(self, comm, &a, coll_check_gather(self, comm, &a), request);
}

int mpi_igatherv_c(struct mpi_rank *self, const void *sendbuf, MPI_Count sendcount,
                   MPI_Datatype sendtype, void *recvbuf, const MPI_Count recvcounts[],
                   const MPI_Aint displs[], MPI_Datatype recvtype, int root, MPI_Comm comm,
                   MPI_Request *request)
{
    struct mpi_coll_args a = {.sbuf = sendbuf, .scount = (uint64_t)sendcount,
                              .stype = mpi_type_get(sendtype), .rbuf = recvbuf,
                              .rcounts = recvcounts, .rdispls = displs,
                              .rtype = mpi_type_get(recvtype), .root = root,
                              .op_id = MPI_COLL_gatherv, .arrays = COLL_WIDE};

    return coll_later(self, comm, &a, coll_check_gather(self, comm, &a), request);
}

int mpi_gatherv_init(struct mpi_rank *self, const void *sendbuf, int sendcount,
                     MPI_Datatype sendtype, void *recvbuf, const int recvcounts[],
                     const int displs[], MPI_Datatype recvtype, int root, MPI_Comm comm,
                     MPI_Info info, MPI_Request *request)
{
    struct mpi_coll_args a = {.sbuf = sendbuf, .scount = (uint64_t)sendcount,
                              .stype = mpi_type_get(sendtype), .rbuf = recvbuf,
                              .rcounts = recvcounts, .rdispls = displs,
                              .rtype = mpi_type_get(recvtype), .root = root,
                              .op_id = MPI_COLL_gatherv};

    return coll_prepare(self, comm, &a, info, coll_check_gather(self, comm, &a), request);
}

int mpi_gatherv_init_c(struct mpi_rank *self, const void *sendbuf, MPI_Count sendcount,
                       MPI_Datatype sendtype, void *recvbuf, const MPI_Count recvcounts[],
                       const MPI_Aint displs[], MPI_Datatype recvtype, int root, MPI_Comm comm,
                       MPI_Info info, MPI_Request *request)
{
    struct mpi_coll_args a = {.sbuf = sendbuf, .scount = (uint64_t)sendcount,
                              .stype = mpi_type_get(sendtype), .rbuf = recvbuf,
                              .rcounts = recvcounts, .rdispls = displs,
                              .rtype = mpi_type_get(recvtype), .root = root,
                              .op_id = MPI_COLL_gatherv, .arrays = COLL_WIDE};

    return coll_prepare(self, comm, &a, info, coll_check_gather(self, comm, &a), request);
}

int mpi_scatterv(struct mpi_rank *self, const void *sendbuf, const int sendcounts[],
                 const int displs[], MPI_Datatype sendtype, void *recvbuf, int recvcount,
                 MPI_Datatype recvtype, int root, MPI_Comm comm)
{
    struct mpi_coll_args a = {.sbuf = sendbuf, .scounts = sendcounts, .sdispls = displs,
                              .stype = mpi_type_get(sendtype), .rbuf = recvbuf,
                              .rcount = (uint64_t)recvcount, .rtype = mpi_type_get(recvtype),
                              .root = root, .op_id = MPI_COLL_scatterv};

    return coll_now(self, comm, &a, coll_check_scatter(self, comm, &a));
}

int mpi_scatterv_c(struct mpi_rank *self, const void *sendbuf, const MPI_Count sendcounts[],
                   const MPI_Aint displs[], MPI_Datatype sendtype, void *recvbuf,
                   MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm)
{
    struct mpi_coll_args a = {.sbuf = sendbuf, .scounts = sendcounts, .sdispls = displs,
                              .stype = mpi_type_get(sendtype), .rbuf = recvbuf,
                              .rcount = (uint64_t)recvcount, .rtype = mpi_type_get(recvtype),
                              .root = root, .op_id = MPI_COLL_scatterv, .arrays = COLL_WIDE};

    return coll_now(self, comm, &a, coll_check_scatter(self, comm, &a));
}

int mpi_iscatterv(struct mpi_rank *self, const void *sendbuf, const int sendcounts[],
                  const int displs[], MPI_Datatype sendtype, void *recvbuf, int recvcount,
                  MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Request *request)
{
    struct mpi_coll_args a = {.sbuf = sendbuf, .scounts = sendcounts, .sdispls = displs,
                              .stype = mpi_type_get(sendtype), .rbuf = recvbuf,
                              .rcount = (uint64_t)recvcount, .rtype = mpi_type_get(recvtype),
                              .root = root, .op_id = MPI_COLL_scatterv};

    return coll_later(self, comm, &a, coll_check_scatter(self, comm, &a), request);
}

int mpi_iscatterv_c(struct mpi_rank *self, const void *sendbuf, const MPI_Count sendcounts[],
                    const MPI_Aint displs[], MPI_Datatype sendtype, void *recvbuf,
                    MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm,
                    MPI_Request *request)
{
    struct mpi_coll_args a = {.sbuf = sendbuf, .scounts = sendcounts, .sdispls = displs,
                              .stype = mpi_type_get(sendtype), .rbuf = recvbuf,
                              .rcount = (uint64_t)recvcount, .rtype = mpi_type_get(recvtype),
                              .root = root, .op_id = MPI_COLL_scatterv, .arrays = COLL_WIDE};

    return coll_later(self, comm, &a, coll_check_scatter(self, comm, &a), request);
}

int mpi_scatterv_init(struct mpi_rank *self, const void *sendbuf, const int sendcounts[],
                      const int displs[], MPI_Datatype sendtype, void *recvbuf, int recvcount,
                      MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info,
                      MPI_Request *request)
{
    struct mpi_coll_args a = {.sbuf = sendbuf, .scounts = sendcounts, .sdispls = displs,
                              .stype = mpi_type_get(sendtype), .rbuf = recvbuf,
                              .rcount = (uint64_t)recvcount, .rtype = mpi_type_get(recvtype),
                              .root = root, .op_id = MPI_COLL_scatterv};

    return coll_prepare(self, comm, &a, info, coll_check_scatter(self, comm, &a), request);
}

int mpi_scatterv_init_c(struct mpi_rank *self, const void *sendbuf, const MPI_Count sendcounts[],
                        const MPI_Aint displs[], MPI_Datatype sendtype, void *recvbuf,
                        MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm,
                        MPI_Info info, MPI_Request *request)
{
    struct mpi_coll_args a = {.sbuf = sendbuf, .scounts = sendcounts, .sdispls = displs,
                              .stype = mpi_type_get(sendtype), .rbuf = recvbuf,
                              .rcount = (uint64_t)recvcount, .rtype = mpi_type_get(recvtype),
                              .root = root, .op_id = MPI_COLL_scatterv, .arrays = COLL_WIDE};

    return coll_prepare(self, comm, &a, info, coll_check_scatter(self, comm, &a), request);
}

int mpi_allgatherv(struct mpi_rank *self, const void *sendbuf, int sendcount, MPI_Datatype sendtype,
                   void *recvbuf, const int recvcounts[], const int displs[], MPI_Datatype recvtype,
                   MPI_Comm comm)
{
    struct mpi_coll_args a = {.sbuf = sendbuf, .scount = (uint64_t)sendcount,
                              .stype = mpi_type_get(sendtype), .rbuf = recvbuf,
                              .rcounts = recvcounts, .rdispls = displs,
                              .rtype = mpi_type_get(recvtype), .op_id = MPI_COLL_allgatherv};

    return coll_now(self, comm, &a, coll_check_all(self, comm, &a));
}

int mpi_allgatherv_c(struct mpi_rank *self, const void *sendbuf, MPI_Count sendcount,
                     MPI_Datatype sendtype, void *recvbuf, const MPI_Count recvcounts[],
                     const MPI_Aint displs[], MPI_Datatype recvtype, MPI_Comm comm)
{
    struct mpi_coll_args a = {.sbuf = sendbuf, .scount = (uint64_t)sendcount,
                              .stype = mpi_type_get(sendtype), .rbuf = recvbuf,
                              .rcounts = recvcounts, .rdispls = displs,
                              .rtype = mpi_type_get(recvtype), .op_id = MPI_COLL_allgatherv,
                              .arrays = COLL_WIDE};

    return coll_now(self, comm, &a, coll_check_all(self, comm, &a));
}

int mpi_iallgatherv(struct mpi_rank *self, const void *sendbuf, int sendcount,
                    MPI_Datatype sendtype, void *recvbuf, const int recvcounts[],
                    const int displs[], MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request)
{
    struct mpi_coll_args a = {.sbuf = sendbuf, .scount = (uint64_t)sendcount,
                              .stype = mpi_type_get(sendtype), .rbuf = recvbuf,
                              .rcounts = recvcounts, .rdispls = displs,
                              .rtype = mpi_type_get(recvtype), .op_id = MPI_COLL_allgatherv};

    return coll_later(self, comm, &a, coll_check_all(self, comm, &a), request);
}

int mpi_iallgatherv_c(struct mpi_rank *self, const void *sendbuf, MPI_Count sendcount,
                      MPI_Datatype sendtype, void *recvbuf, const MPI_Count recvcounts[],
                      const MPI_Aint displs[], MPI_Datatype recvtype, MPI_Comm comm,
                      MPI_Request *request)
{
    struct mpi_coll_args a = {.sbuf = sendbuf, .scount = (uint64_t)sendcount,
                              .stype = mpi_type_get(sendtype), .rbuf = recvbuf,
                              .rcounts = recvcounts, .rdispls = displs,
                              .rtype = mpi_type_get(recvtype), .op_id = MPI_COLL_allgatherv,
                              .arrays = COLL_WIDE};

    return coll_later(self, comm, &a, coll_check_all(self, comm, &a), request);
}

int mpi_allgatherv_init(struct mpi_rank *self, const void *sendbuf, int sendcount,
                        MPI_Datatype sendtype, void *recvbuf, const int recvcounts[],
                        const int displs[], MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
                        MPI_Request *request)
{
    struct mpi_coll_args a = {.sbuf = sendbuf, .scount = (uint64_t)sendcount,
                              .stype = mpi_type_get(sendtype), .rbuf = recvbuf,
                              .rcounts = recvcounts, .rdispls = displs,
                              .rtype = mpi_type_get(recvtype), .op_id = MPI_COLL_allgatherv};

    return coll_prepare(self, comm, &a, info, coll_check_all(self, comm, &a), request);
}

int mpi_allgatherv_init_c(struct mpi_rank *self, const void *sendbuf, MPI_Count sendcount,
                          MPI_Datatype sendtype, void *recvbuf, const MPI_Count recvcounts[],
                          const MPI_Aint displs[], MPI_Datatype recvtype, MPI_Comm comm,
                          MPI_Info info, MPI_Request *request)
{
    struct mpi_coll_args a = {.sbuf = sendbuf, .scount = (uint64_t)sendcount,
                              .stype = mpi_type_get(sendtype), .rbuf = recvbuf,
                              .rcounts = recvcounts, .rdispls = displs,
                              .rtype = mpi_type_get(recvtype), .op_id = MPI_COLL_allgatherv,
                              .arrays = COLL_WIDE};

    return coll_prepare(self, comm, &a, info, coll_check_all(self, comm, &a), request);
}

int mpi_alltoallv(struct mpi_rank *self, const void *sendbuf, const int sendcounts[],
                  const int sdispls[], MPI_Datatype sendtype, void *recvbuf, const int recvcounts[],
                  const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm)
{
    struct mpi_coll_args a = {.sbuf = sendbuf, .scounts = sendcounts, .sdispls = sdispls,
                              .stype = mpi_type_get(sendtype), .rbuf = recvbuf,
                              .rcounts = recvcounts, .rdispls = rdispls,
                              .rtype = mpi_type_get(recvtype), .op_id = MPI_COLL_alltoallv};

    return coll_now(self, comm, &a, coll_check_all(self, comm, &a));
}

int mpi_alltoallv_c(struct mpi_rank *self, const void *sendbuf, const MPI_Count sendcounts[],
                    const MPI_Aint sdispls[], MPI_Datatype sendtype, void *recvbuf,
                    const MPI_Count recvcounts[], const MPI_Aint rdispls[], MPI_Datatype recvtype,
                    MPI_Comm comm)
{
    struct mpi_coll_args a = {.sbuf = sendbuf, .scounts = sendcounts, .sdispls = sdispls,
                              .stype = mpi_type_get(sendtype), .rbuf = recvbuf,
                              .rcounts = recvcounts, .rdispls = rdispls,
                              .rtype = mpi_type_get(recvtype), .op_id = MPI_COLL_alltoallv,
                              .arrays = COLL_WIDE};

    return coll_now(self, comm, &a, coll_check_all(self, comm, &a));
}

int mpi_ialltoallv(struct mpi_rank *self, const void *sendbuf, const int sendcounts[],
                   const int sdispls[], MPI_Datatype sendtype, void *recvbuf,
                   const int recvcounts[], const int rdispls[], MPI_Datatype recvtype,
                   MPI_Comm comm, MPI_Request *request)
{
    struct mpi_coll_args a = {.sbuf = sendbuf, .scounts = sendcounts, .sdispls = sdispls,
                              .stype = mpi_type_get(sendtype), .rbuf = recvbuf,
                              .rcounts = recvcounts, .rdispls = rdispls,
                              .rtype = mpi_type_get(recvtype), .op_id = MPI_COLL_alltoallv};

    return coll_later(self, comm, &a, coll_check_all(self, comm, &a), request);
}

int mpi_ialltoallv_c(struct mpi_rank *self, const void *sendbuf, const MPI_Count sendcounts[],
                     const MPI_Aint sdispls[], MPI_Datatype sendtype, void *recvbuf,
                     const MPI_Count recvcounts[], const MPI_Aint rdispls[], MPI_Datatype recvtype,
                     MPI_Comm comm, MPI_Request *request)
{
    struct mpi_coll_args a = {.sbuf = sendbuf, .scounts = sendcounts, .sdispls = sdispls,
                              .stype = mpi_type_get(sendtype), .rbuf = recvbuf,
                              .rcounts = recvcounts, .rdispls = rdispls,
                              .rtype = mpi_type_get(recvtype), .op_id = MPI_COLL_alltoallv,
                              .arrays = COLL_WIDE};

    return coll_later(self, comm, &a, coll_check_all(self, comm, &a), request);
}

int mpi_alltoallv_init(struct mpi_rank *self, const void *sendbuf, const int sendcounts[],
                       const int sdispls[], MPI_Datatype sendtype, void *recvbuf,
                       const int recvcounts[], const int rdispls[], MPI_Datatype recvtype,
                       MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    struct mpi_coll_args a = {.sbuf = sendbuf, .scounts = sendcounts, .sdispls = sdispls,
                              .stype = mpi_type_get(sendtype), .rbuf = recvbuf,
                              .rcounts = recvcounts, .rdispls = rdispls,
                              .rtype = mpi_type_get(recvtype), .op_id = MPI_COLL_alltoallv};

    return coll_prepare(self, comm, &a, info, coll_check_all(self, comm, &a), request);
}

int mpi_alltoallv_init_c(struct mpi_rank *self, const void *sendbuf, const MPI_Count sendcounts[],
                         const MPI_Aint sdispls[], MPI_Datatype sendtype, void *recvbuf,
                         const MPI_Count recvcounts[], const MPI_Aint rdispls[],
                         MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    struct mpi_coll_args a = {.sbuf = sendbuf, .scounts = sendcounts, .sdispls = sdispls,
                              .stype = mpi_type_get(sendtype), .rbuf = recvbuf,
                              .rcounts = recvcounts, .rdispls = rdispls,
                              .rtype = mpi_type_get(recvtype), .op_id = MPI_COLL_alltoallv,
                              .arrays = COLL_WIDE};

    return coll_prepare(self, comm, &a, info, coll_check_all(self, comm, &a), request);
}

int mpi_alltoallw(struct mpi_rank *self, const void *sendbuf, const int sendcounts[],
                  const int sdispls[], const MPI_Datatype sendtypes[], void *recvbuf,
                  const int recvcounts[], const int rdispls[], const MPI_Datatype recvtypes[],
                  MPI_Comm comm)
{
    struct mpi_coll_args a = {.sbuf = sendbuf, .scounts = sendcounts, .sdispls = sdispls,
                              .stypes = sendtypes, .rbuf = recvbuf, .rcounts = recvcounts,
                              .rdispls = rdispls, .rtypes = recvtypes, .op_id = MPI_COLL_alltoallw};

    return coll_now(self, comm, &a, coll_check_all(self, comm, &a));
}

int mpi_alltoallw_c(struct mpi_rank *self, const void *sendbuf, const MPI_Count sendcounts[],
                    const MPI_Aint sdispls[], const MPI_Datatype sendtypes[], void *recvbuf,
                    const MPI_Count recvcounts[], const MPI_Aint rdispls[],
                    const MPI_Datatype recvtypes[], MPI_Comm comm)
{
    struct mpi_coll_args a = {.sbuf = sendbuf, .scounts = sendcounts, .sdispls = sdispls,
                              .stypes = sendtypes, .rbuf = recvbuf, .rcounts = recvcounts,
                              .rdispls = rdispls, .rtypes = recvtypes, .op_id = MPI_COLL_alltoallw,
                              .arrays = COLL_WIDE};

    return coll_now(self, comm, &a, coll_check_all(self, comm, &a));
}

int mpi_ialltoallw(struct mpi_rank *self, const void *sendbuf, const int sendcounts[],
                   const int sdispls[], const MPI_Datatype sendtypes[], void *recvbuf,
                   const int recvcounts[], const int rdispls[], const MPI_Datatype recvtypes[],
                   MPI_Comm comm, MPI_Request *request)
{
    struct mpi_coll_args a = {.sbuf = sendbuf, .scounts = sendcounts, .sdispls = sdispls,
                              .stypes = sendtypes, .rbuf = recvbuf, .rcounts = recvcounts,
                              .rdispls = rdispls, .rtypes = recvtypes, .op_id = MPI_COLL_alltoallw};

    return coll_later(self, comm, &a, coll_check_all(self, comm, &a), request);
}

int mpi_ialltoallw_c(struct mpi_rank *self, const void *sendbuf, const MPI_Count sendcounts[],
                     const MPI_Aint sdispls[], const MPI_Datatype sendtypes[], void *recvbuf,
                     const MPI_Count recvcounts[], const MPI_Aint rdispls[],
                     const MPI_Datatype recvtypes[], MPI_Comm comm, MPI_Request *request)
{
    struct mpi_coll_args a = {.sbuf = sendbuf, .scounts = sendcounts, .sdispls = sdispls,
                              .stypes = sendtypes, .rbuf = recvbuf, .rcounts = recvcounts,
                              .rdispls = rdispls, .rtypes = recvtypes, .op_id = MPI_COLL_alltoallw,
                              .arrays = COLL_WIDE};

    return coll_later(self, comm, &a, coll_check_all(self, comm, &a), request);
}

int mpi_alltoallw_init(struct mpi_rank *self, const void *sendbuf, const int sendcounts[],
                       const int sdispls[], const MPI_Datatype sendtypes[], void *recvbuf,
                       const int recvcounts[], const int rdispls[], const MPI_Datatype recvtypes[],
                       MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    struct mpi_coll_args a = {.sbuf = sendbuf, .scounts = sendcounts, .sdispls = sdispls,
                              .stypes = sendtypes, .rbuf = recvbuf, .rcounts = recvcounts,
                              .rdispls = rdispls, .rtypes = recvtypes, .op_id = MPI_COLL_alltoallw};

    return coll_prepare(self, comm, &a, info, coll_check_all(self, comm, &a), request);
}

int mpi_alltoallw_init_c(struct mpi_rank *self, const void *sendbuf, const MPI_Count sendcounts[],
                         const MPI_Aint sdispls[], const MPI_Datatype sendtypes[], void *recvbuf,
                         const MPI_Count recvcounts[], const MPI_Aint rdispls[],
                         const MPI_Datatype recvtypes[], MPI_Comm comm, MPI_Info info,
                         MPI_Request *request)
{
    struct mpi_coll_args a = {.sbuf = sendbuf, .scounts = sendcounts, .sdispls = sdispls,
                              .stypes = sendtypes, .rbuf = recvbuf, .rcounts = recvcounts,
                              .rdispls = rdispls, .rtypes = recvtypes, .op_id = MPI_COLL_alltoallw,
                              .arrays = COLL_WIDE};

    return coll_prepare(self, comm, &a, info, coll_check_all(self, comm, &a), request);
}
