/*
 * entry_vector.c - the calls with a count per rank: MPI_Gatherv, MPI_Scatterv, MPI_Allgatherv,
 * MPI_Alltoallv, MPI_Alltoallw.
 */
#include "mpi/coll/entry_check.h"
#include "mpi_impl.h"

/* A side with a block per rank. `types` NULL: all of `type`. */
static int check_blocks(struct mpi_rank *self, MPI_Comm comm, const void *buf, const int *counts,
                        const int *displs, MPI_Datatype type, const MPI_Datatype *types)
{
    if (!counts || !displs)
        return coll_bad_array(self, comm);
    int size = (int)mpi_comm_peers(mpi_comm_get(comm));
    int bad = coll_first_bad_block(buf, counts, displs, type, types, size);
    if (bad < 0)
        return MPI_SUCCESS;
    return coll_bad_items(self, comm, buf, counts[bad], types ? types[bad] : type);
}

static int check_items(struct mpi_rank *self, MPI_Comm comm, const void *buf, int count,
                       MPI_Datatype type)
{
    if (coll_items_ok(buf, count, mpi_type_get(type)))
        return MPI_SUCCESS;
    return coll_bad_items(self, comm, buf, count, type);
}

/* The communicator and root of a rooted call; otherwise root is 0. */
static int check_place(struct mpi_rank *self, MPI_Comm comm, int root)
{
    struct mpi_comm *c = mpi_comm_get(comm);

    if (!coll_comm_ok(c))
        return coll_bad_comm(self, comm);
    return coll_root_ok(c, root) ? MPI_SUCCESS : coll_bad_root(self, comm, root);
}

/* Fills in who and how many, and runs. */
static int run(struct mpi_rank *self, MPI_Comm comm, struct mpi_coll_args *a, int op_id)
{
    struct mpi_comm *c = mpi_comm_get(comm);

    a->rank = mpi_comm_my_rank(c, self);
    a->size = (int)c->group->size;
    a->op_id = op_id;
    return coll_done(self, comm, mpi_coll_run(self, c, a));
}

int mpi_gatherv(struct mpi_rank *self, const void *sendbuf, int sendcount, MPI_Datatype sendtype,
                void *recvbuf, const int recvcounts[], const int displs[], MPI_Datatype recvtype,
                int root, MPI_Comm comm)
{
    int rc = check_place(self, comm, root);

    if (rc)
        return rc;
    struct mpi_comm *c = mpi_comm_get(comm);
    int is_root = coll_is_root(self, c, root), is_leaf = coll_is_leaf(c, root);
    if (is_root)
        rc = check_blocks(self, comm, recvbuf, recvcounts, displs, recvtype, NULL);
    if (!rc && is_leaf && !(is_root && sendbuf == MPI_IN_PLACE))
        rc = check_items(self, comm, sendbuf, sendcount, sendtype);
    if (!rc && is_root && is_leaf && coll_is_alias(sendbuf, recvbuf, sendcount))
        rc = coll_bad_alias(self, comm);
    if (rc)
        return rc;
    struct mpi_coll_args a = {.sbuf = sendbuf, .scount = (uint64_t)sendcount,
                              .stype = mpi_type_get(sendtype), .rbuf = recvbuf,
                              .rcounts = recvcounts, .rdispls = displs,
                              .rtype = mpi_type_get(recvtype), .root = root};
    return run(self, comm, &a, MPI_COLL_gatherv);
}

int mpi_scatterv(struct mpi_rank *self, const void *sendbuf, const int sendcounts[],
                 const int displs[], MPI_Datatype sendtype, void *recvbuf, int recvcount,
                 MPI_Datatype recvtype, int root, MPI_Comm comm)
{
    int rc = check_place(self, comm, root);

    if (rc)
        return rc;
    struct mpi_comm *c = mpi_comm_get(comm);
    int is_root = coll_is_root(self, c, root), is_leaf = coll_is_leaf(c, root);
    if (is_root)
        rc = check_blocks(self, comm, sendbuf, sendcounts, displs, sendtype, NULL);
    if (!rc && is_leaf && !(is_root && recvbuf == MPI_IN_PLACE))
        rc = check_items(self, comm, recvbuf, recvcount, recvtype);
    if (!rc && is_root && is_leaf && coll_is_alias(sendbuf, recvbuf, recvcount))
        rc = coll_bad_alias(self, comm);
    if (rc)
        return rc;
    struct mpi_coll_args a = {.sbuf = sendbuf, .scounts = sendcounts, .sdispls = displs,
                              .stype = mpi_type_get(sendtype), .rbuf = recvbuf,
                              .rcount = (uint64_t)recvcount, .rtype = mpi_type_get(recvtype),
                              .root = root};
    return run(self, comm, &a, MPI_COLL_scatterv);
}

int mpi_allgatherv(struct mpi_rank *self, const void *sendbuf, int sendcount,
                   MPI_Datatype sendtype, void *recvbuf, const int recvcounts[],
                   const int displs[], MPI_Datatype recvtype, MPI_Comm comm)
{
    int rc = check_place(self, comm, 0);

    if (!rc)
        rc = check_blocks(self, comm, recvbuf, recvcounts, displs, recvtype, NULL);
    if (!rc && !coll_is_in_place(mpi_comm_get(comm), sendbuf))
        rc = check_items(self, comm, sendbuf, sendcount, sendtype);
    if (!rc && !mpi_comm_get(comm)->remote &&
        coll_is_own_block(sendbuf, recvbuf, sendcount,
                          displs[mpi_comm_my_rank(mpi_comm_get(comm), self)],
                          mpi_type_get(recvtype)))
        rc = coll_bad_alias(self, comm);
    if (rc)
        return rc;
    struct mpi_coll_args a = {.sbuf = sendbuf, .scount = (uint64_t)sendcount,
                              .stype = mpi_type_get(sendtype), .rbuf = recvbuf,
                              .rcounts = recvcounts, .rdispls = displs,
                              .rtype = mpi_type_get(recvtype)};
    return run(self, comm, &a, MPI_COLL_allgatherv);
}

/* The blocks that the rank keeps would overlap. */
static int is_alias(struct mpi_rank *self, MPI_Comm comm, const void *sbuf, const int *scounts,
                    const void *rbuf, const int *rcounts)
{
    const struct mpi_comm *c = mpi_comm_get(comm);
    int me = mpi_comm_my_rank(c, self);

    return !c->remote && sbuf != MPI_IN_PLACE && scounts[me] > 0 &&
           coll_is_alias(sbuf, rbuf, rcounts[me]);
}

int mpi_alltoallv(struct mpi_rank *self, const void *sendbuf, const int sendcounts[],
                  const int sdispls[], MPI_Datatype sendtype, void *recvbuf,
                  const int recvcounts[], const int rdispls[], MPI_Datatype recvtype,
                  MPI_Comm comm)
{
    int rc = check_place(self, comm, 0);

    if (!rc && !coll_is_in_place(mpi_comm_get(comm), sendbuf))
        rc = check_blocks(self, comm, sendbuf, sendcounts, sdispls, sendtype, NULL);
    if (!rc)
        rc = check_blocks(self, comm, recvbuf, recvcounts, rdispls, recvtype, NULL);
    if (!rc && is_alias(self, comm, sendbuf, sendcounts, recvbuf, recvcounts))
        rc = coll_bad_alias(self, comm);
    if (rc)
        return rc;
    struct mpi_coll_args a = {.sbuf = sendbuf, .scounts = sendcounts, .sdispls = sdispls,
                              .stype = mpi_type_get(sendtype), .rbuf = recvbuf,
                              .rcounts = recvcounts, .rdispls = rdispls,
                              .rtype = mpi_type_get(recvtype)};
    return run(self, comm, &a, MPI_COLL_alltoallv);
}

int mpi_alltoallw(struct mpi_rank *self, const void *sendbuf, const int sendcounts[],
                  const int sdispls[], const MPI_Datatype sendtypes[], void *recvbuf,
                  const int recvcounts[], const int rdispls[], const MPI_Datatype recvtypes[],
                  MPI_Comm comm)
{
    int rc = check_place(self, comm, 0);

    if (!rc && ((sendbuf != MPI_IN_PLACE && !sendtypes) || !recvtypes))
        rc = coll_bad_array(self, comm);
    if (!rc && !coll_is_in_place(mpi_comm_get(comm), sendbuf))
        rc = check_blocks(self, comm, sendbuf, sendcounts, sdispls, 0, sendtypes);
    if (!rc)
        rc = check_blocks(self, comm, recvbuf, recvcounts, rdispls, 0, recvtypes);
    if (!rc && is_alias(self, comm, sendbuf, sendcounts, recvbuf, recvcounts))
        rc = coll_bad_alias(self, comm);
    if (rc)
        return rc;
    struct mpi_coll_args a = {.sbuf = sendbuf, .scounts = sendcounts, .sdispls = sdispls,
                              .stypes = sendtypes, .rbuf = recvbuf, .rcounts = recvcounts,
                              .rdispls = rdispls, .rtypes = recvtypes};
    return run(self, comm, &a, MPI_COLL_alltoallw);
}
