/*
 * check.h - checks communicator and group arguments.
 *
 * Each returns MPI_SUCCESS, or what mpi_raise returned after raising the error.
 */
#ifndef MPI_COMM_CHECK_H
#define MPI_COMM_CHECK_H

#include "mpi/check.h"
#include "mpi/comm/comm.h"

static inline int mpi_check_comm(struct mpi_rank *self, MPI_Comm comm, struct mpi_comm **out)
{
    *out = mpi_comm_get(comm);
    if (*out)
        return MPI_SUCCESS;
    if (comm == MPI_COMM_NULL)
        return mpi_raise(self, comm, MPI_ERR_COMM, "the communicator is MPI_COMM_NULL");
    return mpi_raise(self, comm, MPI_ERR_COMM, "0x%08x is not a communicator of this rank",
                     (unsigned)comm);
}

static inline int mpi_check_group(struct mpi_rank *self, MPI_Group group, struct mpi_group **out)
{
    *out = mpi_group_get(group);
    if (*out)
        return MPI_SUCCESS;
    if (group == MPI_GROUP_NULL)
        return mpi_raise(self, MPI_COMM_NULL, MPI_ERR_GROUP, "the group is MPI_GROUP_NULL");
    return mpi_raise(self, MPI_COMM_NULL, MPI_ERR_GROUP, "0x%08x is not a group", (unsigned)group);
}

/* Checks the communicator of calls that are not defined on intercommunicators. */
static inline int mpi_check_intra(struct mpi_rank *self, MPI_Comm comm, struct mpi_comm **out)
{
    int rc = mpi_check_comm(self, comm, out);

    if (rc)
        return rc;
    if ((*out)->remote)
        return mpi_raise(self, comm, MPI_ERR_COMM, "the communicator is an intercommunicator");
    return MPI_SUCCESS;
}

#endif
