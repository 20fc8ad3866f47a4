/*
 * dynamic_api.c - MPI_Comm_get_parent, MPI_Comm_disconnect and MPI_Comm_join (MPI-4.0, 11.8.3 and
 * 11.10).
 */
#include "mpi/comm/check.h"
#include "mpi/dynamic/spawn.h"
#include "mpi/p2p/request.h"
#include "mpi_impl.h"

int mpi_comm_get_parent(struct mpi_rank *self, MPI_Comm *parent)
{
    const struct mpi_app *app = mpi_app_of(self);
    const struct mpi_comm *c;

    c = app ? mpi_comm_of_desc(app->parent_desc) : NULL; /* NULL, too, if all ranks have freed it */
    *parent = c && mpi_comm_get(c->handle) ? c->handle : MPI_COMM_NULL;
    return MPI_SUCCESS;
}

/* ---- MPI_Comm_disconnect ---- */

/* Waits until the rank's pending operations on c are complete; the requests stay. May switch. */
static void finish_pending(struct mpi_rank *self, const struct mpi_comm *c)
{
    uint32_t from = 0;
    struct mpi_req *r;
    vtime due;

    for (;;) {
        mpi_drain(self);
        r = mpi_req_unfinished(self, c, &from);
        if (!r)
            return;
        if (!mpi_decide(self, VTIME_NEVER, &due))
            mpi_block(self, due, 1, r);
    }
}

int mpi_comm_disconnect(struct mpi_rank *self, MPI_Comm *comm)
{
    struct mpi_comm *c;
    int rc = mpi_check_comm(self, *comm, &c);
    if (rc)
        return rc;
    if (c->keeps) /* by some rank of this process */
        finish_pending(self, c);
    return mpi_comm_free(self, comm);
}

/* ---- MPI_Comm_join ---- */

int mpi_comm_join(struct mpi_rank *self, int fd, MPI_Comm *intercomm)
{

    *intercomm = MPI_COMM_NULL;
    return mpi_raise(self, MPI_COMM_SELF, MPI_ERR_UNSUPPORTED_OPERATION,
                     "ranks cannot be joined by the socket %d: one that waits for it would keep "
                     "all "
                     "others from running; use MPI_Comm_accept and MPI_Comm_connect",
                     fd);
}
