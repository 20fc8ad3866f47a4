/*
 * idup.c - MPI_Comm_idup: the code of MPI_Comm_dup in a strand (MPI-4.0, 7.4.2), in one order with
 * the non-blocking collectives on the communicator. Attributes and hints are copied at the call.
 */
#include "mpi/coll/coll.h"
#include "mpi/comm/check.h"
#include "mpi/create/create.h"
#include "mpi/info.h"
#include "mpi/p2p/p2p_internal.h"
#include "mpi/p2p/strand.h"
#include "mpi_impl.h"

struct idup {
    struct mpi_comm_copy copy;
    MPI_Info hints;
    struct mpi_req *req; /* its buf is this */
};

static void idup_run(struct mpi_rank *self, void *arg)
{
    struct idup *d = arg;
    int rc = mpi_comm_copy_make(self, &d->copy);

    if (!rc) {
        mpi_comm_hints_give(self, *d->copy.newcomm, d->hints);
        if (MPI_IS_SEEN(MPI_SEES(made)))
            mpi_tell_made(self, self->ent.clock,
                          &(struct mpi_seen_object){MPI_FN_COMM_IDUP, MPI_OBJECT_COMM,
                                                    MPI_HANDLE_AT(d->copy.newcomm),
                                                    mpi_req_handle(d->req)});
    }
    mpi_req_done(d->req, self->ent.clock, rc);
}

static void idup_free(struct mpi_rank *self, struct mpi_req *req)
{
    (void)self;
    pool_free(&mpi_world.pool, req->buf, sizeof(struct idup));
}

static const struct mpi_work idup_work = {.free = idup_free};

int mpi_comm_idup_with_info(struct mpi_rank *self, MPI_Comm comm, MPI_Info info, MPI_Comm *newcomm,
                            MPI_Request *request)
{
    struct mpi_comm *c;
    struct idup *d;
    int rc = mpi_check_comm(self, comm, &c);

    if (!rc && info != MPI_INFO_NULL && !mpi_info_exists(info))
        rc = mpi_raise(self, comm, MPI_ERR_INFO, "0x%08x is not an info object", (unsigned)info);
    if (rc)
        return rc;
    d = pool_alloc(&mpi_world.pool, sizeof *d);
    *d = (struct idup){.copy = {.c = c, .newcomm = newcomm},
                       .hints = mpi_comm_hints_take(info),
                       .req = mpi_req_new(self)};
    d->req->kind = MPI_REQ_WORK;
    d->req->work = &idup_work;
    d->req->buf = d;
    d->req->kept = c;
    d->req->comm = (uint32_t)comm;
    mpi_comm_keep(c);
    mpi_comm_copy_begin(self, &d->copy);
    *request = mpi_req_handle(d->req);
    mpi_strand_start(self, idup_run, d, mpi_coll_next_shift(self, c));
    return MPI_SUCCESS;
}

int mpi_comm_idup(struct mpi_rank *self, MPI_Comm comm, MPI_Comm *newcomm, MPI_Request *request)
{
    return mpi_comm_idup_with_info(self, comm, MPI_INFO_NULL, newcomm, request);
}
