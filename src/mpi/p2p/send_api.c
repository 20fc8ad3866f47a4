/*
 * send_api.c - the sending calls: MPI-4.0 sections 3.2, 3.4, 3.6, 3.7 and 3.9. Counts are large;
 * the int forms are widened by their entries.
 */
#include <string.h>

#include "base/mem.h"
#include "mpi/p2p/request.h"
#include "mpi/state.h"
#include "mpi_impl.h"

struct mpi_bsend {
    void *buf;
    int64_t size;
};

/* Room for a buffered message: MPI_BSEND_OVERHEAD and its bytes must fit the attached buffer. A
 * hollow message needs none. */
static int check_buffered(struct mpi_rank *self, const void *buf, MPI_Count count,
                          const struct mpi_type *type, MPI_Comm comm)
{
    const struct mpi_bsend *b = mpi_state_bsend(self);
    uint64_t bytes = (uint64_t)count * type->size;
    int64_t room = b ? b->size : 0;

    if (mpi_data_is_hollow(buf, type))
        return MPI_SUCCESS;
    if ((int64_t)bytes + MPI_BSEND_OVERHEAD > room)
        return mpi_raise(self, comm, MPI_ERR_BUFFER,
                         "%llu bytes do not fit the attached buffer of %lld bytes",
                         (unsigned long long)bytes, (long long)room);
    return MPI_SUCCESS;
}

static int blocking(struct mpi_rank *self, const void *buf, MPI_Count count, MPI_Datatype type,
                    int dest, int tag, MPI_Comm comm, enum mpi_send_mode mode)
{
    struct mpi_sendargs a;
    int rc = mpi_check_send(self, buf, count, type, dest, tag, comm, &a);

    if (rc != MPI_SUCCESS || dest == MPI_PROC_NULL)
        return rc;
    if (mode == MPI_MODE_BUFFERED &&
        (rc = check_buffered(self, buf, count, a.type, comm)) != MPI_SUCCESS)
        return rc;
    return mpi_p2p_send(self, buf, (uint64_t)count, a.type,
                        mpi_comm_world_rank(a.comm, (uint32_t)dest), tag, a.comm->ctx, comm, mode);
}

/* Starts the send described by the arguments on the user's request. */
static void start(struct mpi_rank *self, struct mpi_req *r, const void *buf, MPI_Count count,
                  const struct mpi_sendargs *a, int dest, int tag, enum mpi_send_mode mode)
{
    mpi_req_keep(r, a->comm, a->type);
    if (dest == MPI_PROC_NULL) {
        r->kind = MPI_REQ_NOOP;
        r->complete = self->ent.clock;
        r->flags |= MPI_REQ_DONE;
        return;
    }
    mpi_p2p_isend(self, r, buf, (uint64_t)count, a->type,
                  mpi_comm_world_rank(a->comm, (uint32_t)dest), tag, a->comm->ctx, a->comm->handle,
                  mode);
}

static int nonblocking(struct mpi_rank *self, const void *buf, MPI_Count count, MPI_Datatype type,
                       int dest, int tag, MPI_Comm comm, enum mpi_send_mode mode,
                       MPI_Request *request)
{
    struct mpi_sendargs a;
    struct mpi_req *r;
    int rc = mpi_check_send(self, buf, count, type, dest, tag, comm, &a);

    if (rc == MPI_SUCCESS && mode == MPI_MODE_BUFFERED && dest != MPI_PROC_NULL)
        rc = check_buffered(self, buf, count, a.type, comm);
    if (rc != MPI_SUCCESS)
        return rc;
    mpi_drain(self);
    if (mpi_costs_are_for_requests() && dest != MPI_PROC_NULL)
        mpi_costs_start(self);
    if (dest != MPI_PROC_NULL && !mpi_world.own_requests &&
        mpi_p2p_try_send(self, buf, (uint64_t)count, a.type,
                         mpi_comm_world_rank(a.comm, (uint32_t)dest), tag, a.comm->ctx, mode)) {
        *request = mpi_req_sent(self);
        /* A rank often sends several of a size in a row. */
        engine_msg_prefetch(&mpi_world.engine,
                            sizeof(struct mpi_msg) +
                                (mpi_is_hollow(buf) ? 0 : (uint64_t)count * a.type->size));
        return MPI_SUCCESS;
    }
    r = mpi_req_new(self);
    start(self, r, buf, count, &a, dest, tag, mode);
    *request = mpi_req_handle(r);
    return MPI_SUCCESS;
}

int mpi_send_c(struct mpi_rank *self, const void *buf, MPI_Count count, MPI_Datatype datatype,
               int dest, int tag, MPI_Comm comm)
{
    return blocking(self, buf, count, datatype, dest, tag, comm, MPI_MODE_STANDARD);
}

int mpi_bsend_c(struct mpi_rank *self, const void *buf, MPI_Count count, MPI_Datatype datatype,
                int dest, int tag, MPI_Comm comm)
{
    return blocking(self, buf, count, datatype, dest, tag, comm, MPI_MODE_BUFFERED);
}

int mpi_ssend_c(struct mpi_rank *self, const void *buf, MPI_Count count, MPI_Datatype datatype,
                int dest, int tag, MPI_Comm comm)
{
    return blocking(self, buf, count, datatype, dest, tag, comm, MPI_MODE_SYNC);
}

int mpi_rsend_c(struct mpi_rank *self, const void *buf, MPI_Count count, MPI_Datatype datatype,
                int dest, int tag, MPI_Comm comm)
{
    return blocking(self, buf, count, datatype, dest, tag, comm, MPI_MODE_READY);
}

int mpi_isend_c(struct mpi_rank *self, const void *buf, MPI_Count count, MPI_Datatype datatype,
                int dest, int tag, MPI_Comm comm, MPI_Request *request)
{
    return nonblocking(self, buf, count, datatype, dest, tag, comm, MPI_MODE_STANDARD, request);
}

int mpi_ibsend_c(struct mpi_rank *self, const void *buf, MPI_Count count, MPI_Datatype datatype,
                 int dest, int tag, MPI_Comm comm, MPI_Request *request)
{
    return nonblocking(self, buf, count, datatype, dest, tag, comm, MPI_MODE_BUFFERED, request);
}

int mpi_issend_c(struct mpi_rank *self, const void *buf, MPI_Count count, MPI_Datatype datatype,
                 int dest, int tag, MPI_Comm comm, MPI_Request *request)
{
    return nonblocking(self, buf, count, datatype, dest, tag, comm, MPI_MODE_SYNC, request);
}

int mpi_irsend_c(struct mpi_rank *self, const void *buf, MPI_Count count, MPI_Datatype datatype,
                 int dest, int tag, MPI_Comm comm, MPI_Request *request)
{
    return nonblocking(self, buf, count, datatype, dest, tag, comm, MPI_MODE_READY, request);
}

int mpi_buffer_attach_c(struct mpi_rank *self, void *buffer, MPI_Count size)
{
    struct mpi_bsend *b;

    if (!buffer)
        return mpi_raise(self, MPI_COMM_NULL, MPI_ERR_ARG, "null pointer for the buffer");
    if (size < 0)
        return mpi_raise(self, MPI_COMM_NULL, MPI_ERR_ARG, "buffer size %lld is negative",
                         (long long)size);
    if (size < MPI_BSEND_OVERHEAD)
        return mpi_raise(self, MPI_COMM_NULL, MPI_ERR_BUFFER,
                         "%lld bytes are less than MPI_BSEND_OVERHEAD", (long long)size);
    if (mpi_state_bsend(self))
        return mpi_raise(self, MPI_COMM_NULL, MPI_ERR_BUFFER, "a buffer is attached already");
    b = mpi_state_make(self, MPI_STATE_bsend, sizeof *b);
    *b = (struct mpi_bsend){buffer, size};
    return MPI_SUCCESS;
}

int mpi_buffer_detach_c(struct mpi_rank *self, void *buffer_addr, MPI_Count *size)
{
    const struct mpi_bsend *b = mpi_state_bsend(self);

    *(void **)buffer_addr = b ? b->buf : NULL;
    *size = b ? b->size : 0;
    mpi_state_free(self, MPI_STATE_bsend);
    return MPI_SUCCESS;
}

int mpi_buffer_detach(struct mpi_rank *self, void *buffer_addr, int *size)
{
    MPI_Count n = 0;
    int rc = mpi_buffer_detach_c(self, buffer_addr, &n);

    if (rc == MPI_SUCCESS)
        *size = n > INT32_MAX ? MPI_UNDEFINED : (int)n;
    return rc;
}

/* ---- persistent sends ---- */

static int init(struct mpi_rank *self, const void *buf, MPI_Count count, MPI_Datatype type,
                int dest, int tag, MPI_Comm comm, enum mpi_send_mode mode, MPI_Request *request)
{
    struct mpi_sendargs a;
    struct mpi_req *r;
    int rc = mpi_check_send(self, buf, count, type, dest, tag, comm, &a);

    if (rc != MPI_SUCCESS)
        return rc;
    r = mpi_req_new(self);
    r->flags |= MPI_REQ_PERSISTENT;
    r->persistent_kind = dest == MPI_PROC_NULL ? MPI_REQ_NOOP : MPI_REQ_SEND;
    r->kind = r->persistent_kind;
    r->buf = (void *)buf;
    r->count = (uint64_t)count;
    mpi_req_keep(r, a.comm, a.type);
    r->peer = dest == MPI_PROC_NULL ? MPI_PROC_NULL
                                    : (int32_t)mpi_comm_world_rank(a.comm, (uint32_t)dest);
    r->tag = tag;
    r->ctx = a.comm->ctx;
    r->mode = (uint8_t)mode;
    *request = mpi_req_handle(r);
    return MPI_SUCCESS;
}

int mpi_send_init_c(struct mpi_rank *self, const void *buf, MPI_Count count, MPI_Datatype datatype,
                    int dest, int tag, MPI_Comm comm, MPI_Request *request)
{
    return init(self, buf, count, datatype, dest, tag, comm, MPI_MODE_STANDARD, request);
}

int mpi_bsend_init_c(struct mpi_rank *self, const void *buf, MPI_Count count, MPI_Datatype datatype,
                     int dest, int tag, MPI_Comm comm, MPI_Request *request)
{
    return init(self, buf, count, datatype, dest, tag, comm, MPI_MODE_BUFFERED, request);
}

int mpi_ssend_init_c(struct mpi_rank *self, const void *buf, MPI_Count count, MPI_Datatype datatype,
                     int dest, int tag, MPI_Comm comm, MPI_Request *request)
{
    return init(self, buf, count, datatype, dest, tag, comm, MPI_MODE_SYNC, request);
}

int mpi_rsend_init_c(struct mpi_rank *self, const void *buf, MPI_Count count, MPI_Datatype datatype,
                     int dest, int tag, MPI_Comm comm, MPI_Request *request)
{
    return init(self, buf, count, datatype, dest, tag, comm, MPI_MODE_READY, request);
}
