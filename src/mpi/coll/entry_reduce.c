/*
 * entry_reduce.c - the reductions: MPI_Reduce, MPI_Allreduce, MPI_Reduce_scatter,
 * MPI_Reduce_scatter_block, MPI_Scan, MPI_Exscan.
 */
#include "mpi/coll/entry_check.h"
#include "mpi_impl.h"

/* What all reductions without a root check; recvbuf NULL is only good for no items. */
static int check_all(struct mpi_rank *self, const void *sendbuf, const void *recvbuf, int count,
                     MPI_Datatype datatype, MPI_Op op, MPI_Comm comm)
{
    struct mpi_type *type = mpi_type_get(datatype);
    struct mpi_comm *c = mpi_comm_get(comm);

    if (coll_unlikely(!coll_comm_ok(c)))
        return coll_bad_comm(self, comm);
    if (coll_unlikely(!coll_items_ok(recvbuf, count, type)))
        return coll_bad_items(self, comm, recvbuf, count, datatype);
    if (coll_unlikely(!coll_is_in_place(c, sendbuf) && !coll_items_ok(sendbuf, count, type)))
        return coll_bad_items(self, comm, sendbuf, count, datatype);
    if (coll_unlikely(!coll_op_ok(mpi_op_get(op), type)))
        return coll_bad_op(self, comm, op, datatype);
    return !c->remote && coll_is_alias(sendbuf, recvbuf, count) ? coll_bad_alias(self, comm)
                                                                 : MPI_SUCCESS;
}

int mpi_reduce(struct mpi_rank *self, const void *sendbuf, void *recvbuf, int count,
               MPI_Datatype datatype, MPI_Op op, int root, MPI_Comm comm)
{
    struct mpi_comm *c = mpi_comm_get(comm);
    struct mpi_type *type = mpi_type_get(datatype);

    if (coll_unlikely(!coll_comm_ok(c)))
        return coll_bad_comm(self, comm);
    if (coll_unlikely(!coll_root_ok(c, root)))
        return coll_bad_root(self, comm, root);
    if (root == MPI_PROC_NULL) /* has no part in it */
        return MPI_SUCCESS;
    int is_root = coll_is_root(self, c, root), is_leaf = coll_is_leaf(c, root);
    if (is_leaf && !(is_root && sendbuf == MPI_IN_PLACE) && !coll_items_ok(sendbuf, count, type))
        return coll_bad_items(self, comm, sendbuf, count, datatype);
    if (is_root && !coll_items_ok(recvbuf, count, type))
        return coll_bad_items(self, comm, recvbuf, count, datatype);
    if (coll_unlikely(!coll_op_ok(mpi_op_get(op), type)))
        return coll_bad_op(self, comm, op, datatype);
    if (is_root && is_leaf && coll_is_alias(sendbuf, recvbuf, count))
        return coll_bad_alias(self, comm);
    return coll_done(self, comm,
                     mpi_coll_reduce(self, c, sendbuf, recvbuf, (uint64_t)count, type,
                                     mpi_op_get(op), root));
}

int mpi_allreduce(struct mpi_rank *self, const void *sendbuf, void *recvbuf, int count,
                  MPI_Datatype datatype, MPI_Op op, MPI_Comm comm)
{
    int rc = check_all(self, sendbuf, recvbuf, count, datatype, op, comm);

    if (coll_unlikely(rc))
        return rc;
    return coll_done(self, comm,
                     mpi_coll_allreduce(self, mpi_comm_get(comm), sendbuf, recvbuf,
                                        (uint64_t)count, mpi_type_get(datatype), mpi_op_get(op)));
}

int mpi_scan(struct mpi_rank *self, const void *sendbuf, void *recvbuf, int count,
             MPI_Datatype datatype, MPI_Op op, MPI_Comm comm)
{
    if (!coll_intra_ok(mpi_comm_get(comm)))
        return coll_bad_comm(self, comm);
    int rc = check_all(self, sendbuf, recvbuf, count, datatype, op, comm);

    if (coll_unlikely(rc))
        return rc;
    return coll_done(self, comm,
                     mpi_coll_scan(self, mpi_comm_get(comm), sendbuf, recvbuf, (uint64_t)count,
                                   mpi_type_get(datatype), mpi_op_get(op)));
}

int mpi_exscan(struct mpi_rank *self, const void *sendbuf, void *recvbuf, int count,
               MPI_Datatype datatype, MPI_Op op, MPI_Comm comm)
{
    struct mpi_comm *c = mpi_comm_get(comm);
    if (!coll_intra_ok(c))
        return coll_bad_comm(self, comm);
    /* The first rank receives nothing and may have no receive buffer. */
    const void *to = !recvbuf && mpi_comm_my_rank(c, self) == 0 ? &c : recvbuf;
    int rc = check_all(self, sendbuf, to, count, datatype, op, comm);

    if (coll_unlikely(rc))
        return rc;
    return coll_done(self, comm,
                     mpi_coll_exscan(self, c, sendbuf, recvbuf, (uint64_t)count,
                                     mpi_type_get(datatype), mpi_op_get(op)));
}

/* The two forms of reduce-scatter: items in all, and whatever the form adds to `a`. */
static int run_scatter(struct mpi_rank *self, MPI_Comm comm, struct mpi_coll_args *a)
{
    struct mpi_comm *c = mpi_comm_get(comm);

    a->rank = mpi_comm_my_rank(c, self);
    a->size = (int)c->group->size;
    return coll_done(self, comm, mpi_coll_run(self, c, a));
}

/* Any item received, or a negative count. */
static int sum_counts(const int *counts, int size)
{
    int some = 0;

    for (int i = 0; i < size; i++) {
        if (counts[i] < 0)
            return counts[i];
        some |= counts[i] > 0;
    }
    return some;
}

int mpi_reduce_scatter(struct mpi_rank *self, const void *sendbuf, void *recvbuf,
                       const int recvcounts[], MPI_Datatype datatype, MPI_Op op, MPI_Comm comm)
{
    struct mpi_comm *c = mpi_comm_get(comm);

    if (!coll_comm_ok(c))
        return coll_bad_comm(self, comm);
    if (!recvcounts)
        return coll_bad_array(self, comm);
    int some = sum_counts(recvcounts, (int)c->group->size);
    /* A rank that gets no items may have no receive buffer. */
    int no_buf = !recvbuf && some > 0 && !recvcounts[mpi_comm_my_rank(c, self)];
    int rc = check_all(self, sendbuf, no_buf ? &c : recvbuf, some, datatype, op, comm);
    if (rc)
        return rc;
    struct mpi_coll_args a = {.sbuf = sendbuf, .rbuf = recvbuf, .rcounts = recvcounts,
                              .rtype = mpi_type_get(datatype), .op = mpi_op_get(op),
                              .op_id = MPI_COLL_reduce_scatter};
    return run_scatter(self, comm, &a);
}

int mpi_reduce_scatter_block(struct mpi_rank *self, const void *sendbuf, void *recvbuf,
                             int recvcount, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm)
{
    int rc = check_all(self, sendbuf, recvbuf, recvcount, datatype, op, comm);

    if (rc)
        return rc;
    struct mpi_coll_args a = {.sbuf = sendbuf, .rbuf = recvbuf, .rcount = (uint64_t)recvcount,
                              .rtype = mpi_type_get(datatype), .op = mpi_op_get(op),
                              .op_id = MPI_COLL_reduce_scatter_block};
    return run_scatter(self, comm, &a);
}
