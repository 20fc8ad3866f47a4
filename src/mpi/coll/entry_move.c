/*
 * entry_move.c - MPI_Barrier, MPI_Bcast and the calls with equal blocks: gather, scatter,
 * allgather, alltoall. Arguments that are not significant at a rank (the receive side of MPI_Gather
 * below the root) are not looked at.
 */
#include "mpi/coll/entry_check.h"
#include "mpi_impl.h"

int mpi_barrier(struct mpi_rank *self, MPI_Comm comm)
{
    struct mpi_comm *c = mpi_comm_get(comm);

    if (coll_unlikely(!coll_comm_ok(c)))
        return coll_bad_comm(self, comm);
    return mpi_coll_barrier(self, c); /* messages without data cannot be truncated */
}

int mpi_bcast(struct mpi_rank *self, void *buffer, int count, MPI_Datatype datatype, int root,
              MPI_Comm comm)
{
    struct mpi_comm *c = mpi_comm_get(comm);
    struct mpi_type *type = mpi_type_get(datatype);

    if (coll_unlikely(!coll_comm_ok(c)))
        return coll_bad_comm(self, comm);
    if (coll_unlikely(!coll_root_ok(c, root)))
        return coll_bad_root(self, comm, root);
    if (coll_unlikely(root != MPI_PROC_NULL && !coll_items_ok(buffer, count, type)))
        return coll_bad_items(self, comm, buffer, count, datatype);
    return coll_done(self, comm, mpi_coll_bcast(self, c, buffer, (uint64_t)count, type, root));
}

int mpi_gather(struct mpi_rank *self, const void *sendbuf, int sendcount, MPI_Datatype sendtype,
               void *recvbuf, int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm)
{
    struct mpi_comm *c = mpi_comm_get(comm);
    struct mpi_type *stype = mpi_type_get(sendtype), *rtype = mpi_type_get(recvtype);

    if (coll_unlikely(!coll_comm_ok(c)))
        return coll_bad_comm(self, comm);
    if (coll_unlikely(!coll_root_ok(c, root)))
        return coll_bad_root(self, comm, root);
    int is_root = coll_is_root(self, c, root), is_leaf = coll_is_leaf(c, root);
    if (is_leaf && !(is_root && sendbuf == MPI_IN_PLACE) && !coll_items_ok(sendbuf, sendcount, stype))
        return coll_bad_items(self, comm, sendbuf, sendcount, sendtype);
    if (is_root && !coll_items_ok(recvbuf, recvcount, rtype))
        return coll_bad_items(self, comm, recvbuf, recvcount, recvtype);
    if (is_root && is_leaf && coll_is_alias(sendbuf, recvbuf, recvcount))
        return coll_bad_alias(self, comm);
    return coll_done(self, comm,
                     mpi_coll_gather(self, c, sendbuf, (uint64_t)sendcount, stype, recvbuf,
                                     (uint64_t)recvcount, rtype, root));
}

int mpi_scatter(struct mpi_rank *self, const void *sendbuf, int sendcount, MPI_Datatype sendtype,
                void *recvbuf, int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm)
{
    struct mpi_comm *c = mpi_comm_get(comm);
    struct mpi_type *stype = mpi_type_get(sendtype), *rtype = mpi_type_get(recvtype);

    if (coll_unlikely(!coll_comm_ok(c)))
        return coll_bad_comm(self, comm);
    if (coll_unlikely(!coll_root_ok(c, root)))
        return coll_bad_root(self, comm, root);
    int is_root = coll_is_root(self, c, root), is_leaf = coll_is_leaf(c, root);
    if (is_leaf && !(is_root && recvbuf == MPI_IN_PLACE) && !coll_items_ok(recvbuf, recvcount, rtype))
        return coll_bad_items(self, comm, recvbuf, recvcount, recvtype);
    if (is_root && !coll_items_ok(sendbuf, sendcount, stype))
        return coll_bad_items(self, comm, sendbuf, sendcount, sendtype);
    if (is_root && is_leaf && coll_is_alias(sendbuf, recvbuf, sendcount))
        return coll_bad_alias(self, comm);
    return coll_done(self, comm,
                     mpi_coll_scatter(self, c, sendbuf, (uint64_t)sendcount, stype, recvbuf,
                                      (uint64_t)recvcount, rtype, root));
}

/* What allgather and alltoall check alike. */
static int check_all(struct mpi_rank *self, const void *sendbuf, int sendcount,
                     MPI_Datatype sendtype, const void *recvbuf, int recvcount,
                     MPI_Datatype recvtype, MPI_Comm comm)
{
    struct mpi_comm *c = mpi_comm_get(comm);

    if (!coll_comm_ok(c))
        return coll_bad_comm(self, comm);
    if (!coll_is_in_place(c, sendbuf) && !coll_items_ok(sendbuf, sendcount, mpi_type_get(sendtype)))
        return coll_bad_items(self, comm, sendbuf, sendcount, sendtype);
    if (!coll_items_ok(recvbuf, recvcount, mpi_type_get(recvtype)))
        return coll_bad_items(self, comm, recvbuf, recvcount, recvtype);
    return !c->remote && coll_is_alias(sendbuf, recvbuf, recvcount) ? coll_bad_alias(self, comm) : MPI_SUCCESS;
}

int mpi_allgather(struct mpi_rank *self, const void *sendbuf, int sendcount,
                  MPI_Datatype sendtype, void *recvbuf, int recvcount, MPI_Datatype recvtype,
                  MPI_Comm comm)
{
    int rc = check_all(self, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);

    if (coll_unlikely(rc))
        return rc;
    if (!mpi_comm_get(comm)->remote &&
        coll_is_own_block(sendbuf, recvbuf, recvcount,
                          (int64_t)recvcount * mpi_comm_my_rank(mpi_comm_get(comm), self),
                          mpi_type_get(recvtype)))
        return coll_bad_alias(self, comm);
    return coll_done(self, comm,
                     mpi_coll_allgather(self, mpi_comm_get(comm), sendbuf, (uint64_t)sendcount,
                                        mpi_type_get(sendtype), recvbuf, (uint64_t)recvcount,
                                        mpi_type_get(recvtype)));
}

int mpi_alltoall(struct mpi_rank *self, const void *sendbuf, int sendcount, MPI_Datatype sendtype,
                 void *recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Comm comm)
{
    int rc = check_all(self, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);

    if (coll_unlikely(rc))
        return rc;
    return coll_done(self, comm,
                     mpi_coll_alltoall(self, mpi_comm_get(comm), sendbuf, (uint64_t)sendcount,
                                       mpi_type_get(sendtype), recvbuf, (uint64_t)recvcount,
                                       mpi_type_get(recvtype)));
}
