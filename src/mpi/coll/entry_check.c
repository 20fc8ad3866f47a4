/*
 * entry_check.c - what was wrong with the arguments of a collective call. Nothing here switches,
 * but mpi_raise may end the run or call the program's error handler.
 */
#include "mpi/coll/entry_check.h"

int coll_bad_comm(struct mpi_rank *self, MPI_Comm comm)
{
    if (comm == MPI_COMM_NULL)
        return mpi_raise(self, comm, MPI_ERR_COMM, "the communicator is MPI_COMM_NULL");
    if (!mpi_comm_get(comm))
        return mpi_raise(self, comm, MPI_ERR_COMM, "0x%08x is not a communicator",
                         (unsigned)comm);
    return mpi_raise(self, comm, MPI_ERR_COMM,
                     "the call is not defined on intercommunicators");
}

int coll_bad_root(struct mpi_rank *self, MPI_Comm comm, int root)
{
    const struct mpi_comm *c = mpi_comm_get(comm);

    return mpi_raise(self, comm, MPI_ERR_ROOT, "root %d is not in the %s (size %u)", root,
                     c->remote ? "remote group" : "communicator", mpi_comm_peers(c));
}

int coll_bad_items(struct mpi_rank *self, MPI_Comm comm, const void *buf, int count,
                   MPI_Datatype datatype)
{
    if (count < 0)
        return mpi_raise(self, comm, MPI_ERR_COUNT, "count is %d", count);
    if (datatype == MPI_DATATYPE_NULL)
        return mpi_raise(self, comm, MPI_ERR_TYPE, "the datatype is MPI_DATATYPE_NULL");
    struct mpi_type *type = mpi_type_get(datatype);
    if (!type)
        return mpi_raise(self, comm, MPI_ERR_TYPE, "0x%08x is not a datatype", (unsigned)datatype);
    if (!type->committed)
        return mpi_raise(self, comm, MPI_ERR_TYPE, "datatype 0x%08x has not been committed",
                         (unsigned)datatype);
    if (buf == MPI_IN_PLACE)
        return mpi_raise(self, comm, MPI_ERR_BUFFER, "MPI_IN_PLACE is not allowed here");
    return mpi_raise(self, comm, MPI_ERR_BUFFER, "null buffer for %d items", count);
}

int coll_bad_op(struct mpi_rank *self, MPI_Comm comm, MPI_Op op, MPI_Datatype datatype)
{
    if (op == MPI_OP_NULL)
        return mpi_raise(self, comm, MPI_ERR_OP, "the operation is MPI_OP_NULL");
    if (!mpi_op_get(op))
        return mpi_raise(self, comm, MPI_ERR_OP, "0x%08x is not an operation", (unsigned)op);
    return mpi_raise(self, comm, MPI_ERR_OP, "the operation is not defined on %s",
                     mpi_type_name(mpi_type_get(datatype)));
}

int coll_bad_alias(struct mpi_rank *self, MPI_Comm comm)
{
    return mpi_raise(self, comm, MPI_ERR_BUFFER,
                     "send and receive buffer are the same; use MPI_IN_PLACE");
}

int coll_bad_array(struct mpi_rank *self, MPI_Comm comm)
{
    return mpi_raise(self, comm, MPI_ERR_ARG, "null pointer for counts, displacements or types");
}

int coll_failed(struct mpi_rank *self, MPI_Comm comm, int error_class)
{
    if (error_class == MPI_ERR_TRUNCATE)
        return mpi_raise(self, comm, error_class,
                         "a message was longer than its receiver expected: counts or datatypes "
                         "differ between ranks");
    return mpi_raise(self, comm, error_class, "the collective failed");
}

int coll_first_bad_block(const void *buf, const int *counts, const int *displs,
                         MPI_Datatype type, const MPI_Datatype *types, int size)
{
    struct mpi_type *t = types ? NULL : mpi_type_get(type);

    for (int i = 0; i < size; i++) {
        if (types && !counts[i]) /* the type does not matter */
            continue;
        if (types)
            t = mpi_type_get(types[i]);
        /* A block is somewhere if the buffer is, or if it is displaced from the null address. */
        if (!coll_items_ok(buf || displs[i] ? (const void *)&counts[i] : NULL, counts[i], t))
            return i;
    }
    return buf == MPI_IN_PLACE ? 0 : -1;
}
