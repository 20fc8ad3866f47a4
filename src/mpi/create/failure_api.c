/*
 * failure_api.c - MPICH's fault-tolerance calls (ULFM), on a machine without failures.
 *
 * No rank of a simulated machine fails by itself: no failure is ever acknowledged, shrinking keeps
 * all members, and an agreement is a reduction. Revoking would have to interrupt what other ranks
 * are doing on the communicator; it is refused.
 */
#include "mpi/coll/coll.h"
#include "mpi/comm/check.h"
#include "mpi/create/create.h"
#include "mpi_impl.h"

int mpix_comm_revoke(struct mpi_rank *self, MPI_Comm comm)
{
    struct mpi_comm *c;
    int rc = mpi_check_comm(self, comm, &c);

    return rc ? rc
              : mpi_raise(self, comm, MPI_ERR_UNSUPPORTED_OPERATION,
                          "communicators cannot be revoked");
}

int mpix_comm_shrink(struct mpi_rank *self, MPI_Comm comm, MPI_Comm *newcomm)
{
    struct mpi_comm *c;
    mpi_comm_desc desc;
    int rc = mpi_check_comm(self, comm, &c);

    if (!rc)
        rc = mpi_comm_copy(self, c, &desc);
    if (!rc)
        *newcomm = mpi_comm_adopt(self, c, desc);
    return rc;
}

int mpix_comm_agree(struct mpi_rank *self, MPI_Comm comm, int *flag)
{
    struct mpi_comm *c;
    int rc = mpi_check_comm(self, comm, &c);

    return rc ? rc : mpi_coll_agree(self, comm, flag);
}

int mpix_comm_failure_ack(struct mpi_rank *self, MPI_Comm comm)
{
    struct mpi_comm *c;

    return mpi_check_comm(self, comm, &c);
}

int mpix_comm_failure_get_acked(struct mpi_rank *self, MPI_Comm comm, MPI_Group *failedgrp)
{
    struct mpi_comm *c;
    int rc = mpi_check_comm(self, comm, &c);

    if (!rc)
        *failedgrp = mpi_group_publish(mpi_group_make_range(0, 1, 0));
    return rc;
}
