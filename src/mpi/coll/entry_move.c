/*
 * entry_move.c - the collectives that move data, a row per call: barrier, bcast, gather, scatter,
 * allgather, alltoall, with equal blocks and with a count per rank, among all ranks or neighbours;
 * each blocking, non-blocking and persistent. Forms with one int count are these, widened.
 */
#include "mpi/coll/entry_check.h"
#include "mpi_impl.h"

/* Checked or observed; a separate function, so that it leaves nothing on the stack of a waiting
 * rank. */
__attribute__((noinline, cold)) static int barrier_seen(struct mpi_rank *self, MPI_Comm comm)
{
    struct mpi_coll_args a = {.op_id = MPI_COLL_barrier};

    return coll_now(self, comm, &a, coll_check_comm(self, comm, &a));
}

int mpi_barrier(struct mpi_rank *self, MPI_Comm comm)
{
    struct mpi_comm *c = mpi_comm_get(comm);

    if (__builtin_expect(!c || mpi_world.checking, 0) || MPI_IS_SEEN(MPI_SEES(collective)))
        return barrier_seen(self, comm);
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

#define BCAST_PARAMS void *buffer, MPI_Count count, MPI_Datatype datatype, int root
#define BCAST_ARGS \
    .rbuf = buffer, .rcount = (uint64_t)count, .rtype = mpi_type_get(datatype), .root = root
COLL_ENTRIES(bcast, _c, coll_check_bcast, BCAST_PARAMS, BCAST_ARGS)

/* ---- the sides of a call, as parameters and as arguments ---- */

/* One block, or as many equal ones as there are peers. */
#define SEND_EQUAL(count) const void *sendbuf, count sendcount, MPI_Datatype sendtype
#define RECV_EQUAL(count) void *recvbuf, count recvcount, MPI_Datatype recvtype
#define SENT_EQUAL .sbuf = sendbuf, .scount = (uint64_t)sendcount, .stype = mpi_type_get(sendtype)
#define RECVD_EQUAL .rbuf = recvbuf, .rcount = (uint64_t)recvcount, .rtype = mpi_type_get(recvtype)

/* A count and a displacement for each peer. */
#define SEND_BLOCKS(count, displ) \
    const void *sendbuf, const count sendcounts[], const displ sdispls[], MPI_Datatype sendtype
#define RECV_BLOCKS(count, displ) \
    void *recvbuf, const count recvcounts[], const displ rdispls[], MPI_Datatype recvtype
#define SENT_BLOCKS \
    .sbuf = sendbuf, .scounts = sendcounts, .sdispls = sdispls, .stype = mpi_type_get(sendtype)
#define RECVD_BLOCKS \
    .rbuf = recvbuf, .rcounts = recvcounts, .rdispls = rdispls, .rtype = mpi_type_get(recvtype)

/* A type for each peer, too. */
#define TYPED(count, displ)                                                      \
    const void *sendbuf, const count sendcounts[], const displ sdispls[],        \
        const MPI_Datatype sendtypes[], void *recvbuf, const count recvcounts[], \
        const displ rdispls[], const MPI_Datatype recvtypes[]
#define TYPED_ARGS                                                                   \
    .sbuf = sendbuf, .scounts = sendcounts, .sdispls = sdispls, .stypes = sendtypes, \
    .rbuf = recvbuf, .rcounts = recvcounts, .rdispls = rdispls, .rtypes = recvtypes

#define LIST(...) __VA_ARGS__

/* ---- equal blocks ---- */

#define EQUAL LIST(SEND_EQUAL(MPI_Count), RECV_EQUAL(MPI_Count))
#define EQUAL_ARGS SENT_EQUAL, RECVD_EQUAL

COLL_ENTRIES(gather, _c, coll_check_gather, LIST(EQUAL, int root), LIST(EQUAL_ARGS, .root = root))
COLL_ENTRIES(scatter, _c, coll_check_scatter, LIST(EQUAL, int root), LIST(EQUAL_ARGS, .root = root))
COLL_ENTRIES(allgather, _c, coll_check_all, EQUAL, EQUAL_ARGS)
COLL_ENTRIES(alltoall, _c, coll_check_all, EQUAL, EQUAL_ARGS)
COLL_ENTRIES(neighbor_allgather, _c, coll_check_neighbor, EQUAL, EQUAL_ARGS)
COLL_ENTRIES(neighbor_alltoall, _c, coll_check_neighbor, EQUAL, EQUAL_ARGS)

/* ---- a count per rank: with int, and with large counts ---- */

#define GATHERV(count, displ) LIST(SEND_EQUAL(count), RECV_BLOCKS(count, displ))
#define GATHERV_ARGS SENT_EQUAL, RECVD_BLOCKS
#define SCATTERV(count, displ) LIST(SEND_BLOCKS(count, displ), RECV_EQUAL(count))
#define SCATTERV_ARGS SENT_BLOCKS, RECVD_EQUAL
#define ALLTOALLV(count, displ) LIST(SEND_BLOCKS(count, displ), RECV_BLOCKS(count, displ))
#define ALLTOALLV_ARGS SENT_BLOCKS, RECVD_BLOCKS

COLL_ENTRIES(gatherv, , coll_check_gather, LIST(GATHERV(int, int), int root),
             LIST(GATHERV_ARGS, .root = root))
COLL_ENTRIES(gatherv, _c, coll_check_gather, LIST(GATHERV(MPI_Count, MPI_Aint), int root),
             LIST(GATHERV_ARGS, .root = root, .arrays = COLL_WIDE))
COLL_ENTRIES(scatterv, , coll_check_scatter, LIST(SCATTERV(int, int), int root),
             LIST(SCATTERV_ARGS, .root = root))
COLL_ENTRIES(scatterv, _c, coll_check_scatter, LIST(SCATTERV(MPI_Count, MPI_Aint), int root),
             LIST(SCATTERV_ARGS, .root = root, .arrays = COLL_WIDE))
COLL_ENTRIES(allgatherv, , coll_check_all, GATHERV(int, int), GATHERV_ARGS)
COLL_ENTRIES(allgatherv, _c, coll_check_all, GATHERV(MPI_Count, MPI_Aint),
             LIST(GATHERV_ARGS, .arrays = COLL_WIDE))
COLL_ENTRIES(alltoallv, , coll_check_all, ALLTOALLV(int, int), ALLTOALLV_ARGS)
COLL_ENTRIES(alltoallv, _c, coll_check_all, ALLTOALLV(MPI_Count, MPI_Aint),
             LIST(ALLTOALLV_ARGS, .arrays = COLL_WIDE))
COLL_ENTRIES(alltoallw, , coll_check_all, TYPED(int, int), TYPED_ARGS)
COLL_ENTRIES(alltoallw, _c, coll_check_all, TYPED(MPI_Count, MPI_Aint),
             LIST(TYPED_ARGS, .arrays = COLL_WIDE))

COLL_ENTRIES(neighbor_allgatherv, , coll_check_neighbor, GATHERV(int, int), GATHERV_ARGS)
COLL_ENTRIES(neighbor_allgatherv, _c, coll_check_neighbor, GATHERV(MPI_Count, MPI_Aint),
             LIST(GATHERV_ARGS, .arrays = COLL_WIDE))
COLL_ENTRIES(neighbor_alltoallv, , coll_check_neighbor, ALLTOALLV(int, int), ALLTOALLV_ARGS)
COLL_ENTRIES(neighbor_alltoallv, _c, coll_check_neighbor, ALLTOALLV(MPI_Count, MPI_Aint),
             LIST(ALLTOALLV_ARGS, .arrays = COLL_WIDE))
COLL_ENTRIES(neighbor_alltoallw, , coll_check_neighbor, TYPED(int, MPI_Aint),
             LIST(TYPED_ARGS, .arrays = COLL_WIDE_DISPLS))
COLL_ENTRIES(neighbor_alltoallw, _c, coll_check_neighbor, TYPED(MPI_Count, MPI_Aint),
             LIST(TYPED_ARGS, .arrays = COLL_WIDE))
