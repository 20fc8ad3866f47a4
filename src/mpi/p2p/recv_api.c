/*
 * recv_api.c - receiving, sendrecv, persistent receives and starting persistent requests.
 */
#include <string.h>

#include "base/mem.h"
#include "mpi/p2p/compound.h"
#include "mpi_impl.h"

static void status_null(MPI_Status *status)
{
    struct mpi_req none = {.kind = MPI_REQ_NOOP};

    mpi_status_set(status, &none);
}

int mpi_recv_c(struct mpi_rank *self, void *buf, MPI_Count count, MPI_Datatype datatype, int source,
               int tag, MPI_Comm comm, MPI_Status *status)
{
    struct mpi_sendargs a;
    int rc = mpi_check_recv(self, buf, count, datatype, source, tag, comm, &a);

    if (rc != MPI_SUCCESS)
        return rc;
    if (source == MPI_PROC_NULL) {
        status_null(status);
        return MPI_SUCCESS;
    }
    rc = mpi_p2p_recv(self, buf, (uint64_t)count, a.type, mpi_source_world(a.comm, source), tag,
                      a.comm->ctx, a.comm, status);
    return rc == MPI_SUCCESS ? rc : mpi_req_raise(self, comm, rc);
}

/* Starts a receive on the user's request. */
static void start(struct mpi_rank *self, struct mpi_req *r, void *buf, MPI_Count count,
                  const struct mpi_sendargs *a, int source, int tag)
{
    mpi_req_keep(r, a->comm, a->type);
    if (source == MPI_PROC_NULL) {
        r->kind = MPI_REQ_NOOP;
        r->complete = self->ent.clock;
        r->flags |= MPI_REQ_DONE;
        return;
    }
    if (mpi_costs_are_for_requests())
        mpi_costs_start(self);
    mpi_p2p_irecv(self, r, buf, (uint64_t)count, a->type, mpi_source_world(a->comm, source), tag,
                  a->comm->ctx, a->comm->handle);
    if (mpi_costs_are_for_requests())
        mpi_costs_pend(self, r);
}

int mpi_irecv_c(struct mpi_rank *self, void *buf, MPI_Count count, MPI_Datatype datatype,
                int source, int tag, MPI_Comm comm, MPI_Request *request)
{
    struct mpi_sendargs a;
    struct mpi_req *r;
    int rc = mpi_check_recv(self, buf, count, datatype, source, tag, comm, &a);

    if (rc != MPI_SUCCESS)
        return rc;
    r = mpi_req_new(self);
    start(self, r, buf, count, &a, source, tag);
    *request = mpi_req_handle(r);
    return MPI_SUCCESS;
}

int mpi_recv_init_c(struct mpi_rank *self, void *buf, MPI_Count count, MPI_Datatype datatype,
                    int source, int tag, MPI_Comm comm, MPI_Request *request)
{
    struct mpi_sendargs a;
    struct mpi_req *r;
    int rc = mpi_check_recv(self, buf, count, datatype, source, tag, comm, &a);

    if (rc != MPI_SUCCESS)
        return rc;
    r = mpi_req_new(self);
    r->flags |= MPI_REQ_PERSISTENT;
    r->persistent_kind = source == MPI_PROC_NULL ? MPI_REQ_NOOP : MPI_REQ_RECV;
    r->kind = r->persistent_kind;
    r->buf = buf;
    r->count = (uint64_t)count;
    mpi_req_keep(r, a.comm, a.type);
    r->peer = source == MPI_PROC_NULL ? MPI_PROC_NULL : mpi_source_world(a.comm, source);
    r->tag = tag;
    r->ctx = a.comm->ctx;
    *request = mpi_req_handle(r);
    return MPI_SUCCESS;
}

int mpi_start(struct mpi_rank *self, MPI_Request *request)
{
    struct mpi_req *r = mpi_req_get(self, *request);

    if (!r || !mpi_req_is_idle(r))
        return mpi_raise(self, MPI_COMM_NULL, MPI_ERR_REQUEST,
                         "request 0x%x is not an inactive persistent request", (unsigned)*request);
    mpi_drain(self);
    if (mpi_costs_are_for_requests() && r->persistent_kind <= MPI_REQ_RECV)
        mpi_costs_start(self);
    r->flags = (r->flags & (uint16_t) ~(MPI_REQ_DONE | MPI_REQ_CANCELLED | MPI_REQ_BOUND)) |
               MPI_REQ_ACTIVE;
    if (r->persistent_kind == MPI_REQ_SEND) {
        mpi_p2p_isend(self, r, r->buf, r->count, r->type, (uint32_t)r->peer, r->tag, r->ctx,
                      (MPI_Comm)r->comm, (enum mpi_send_mode)r->mode);
    } else if (r->persistent_kind == MPI_REQ_RECV) {
        mpi_p2p_irecv(self, r, r->buf, r->count, r->type, r->peer, r->tag, r->ctx,
                      (MPI_Comm)r->comm);
        if (mpi_costs_are_for_requests())
            mpi_costs_pend(self, r);
    } else if (r->persistent_kind == MPI_REQ_WORK) {
        r->work->start(self, r);
    } else if (r->persistent_kind == MPI_REQ_NOOP) {
        r->complete = self->ent.clock;
        r->flags |= MPI_REQ_DONE;
    } else {
        mpi_partitioned_start(self, r);
    }
    mpi_observe_request(self, MPI_REQUEST_START, r);
    return MPI_SUCCESS;
}

int mpi_startall(struct mpi_rank *self, int count, MPI_Request array_of_requests[])
{
    for (int i = 0; i < count; i++) {
        int rc = mpi_start(self, &array_of_requests[i]);

        if (rc != MPI_SUCCESS)
            return rc;
    }
    return MPI_SUCCESS;
}

/* ---- sendrecv ---- */

/* Starts both, with requests on the stack; fills in the receive's status. */
static int exchange(struct mpi_rank *self, const void *sbuf, MPI_Count scount,
                    const struct mpi_sendargs *s, int dest, int stag, void *rbuf, MPI_Count rcount,
                    const struct mpi_sendargs *r, int source, int rtag, MPI_Status *status)
{
    struct mpi_req reqs[2];
    int rc;

    memset(reqs, 0, sizeof reqs);
    reqs[0].kind = reqs[1].kind = MPI_REQ_NOOP;
    reqs[0].flags = reqs[1].flags = MPI_REQ_DONE;
    if (source != MPI_PROC_NULL)
        mpi_p2p_irecv(self, &reqs[0], rbuf, (uint64_t)rcount, r->type,
                      mpi_source_world(r->comm, source), rtag, r->comm->ctx, r->comm->handle);
    if (dest != MPI_PROC_NULL)
        mpi_p2p_isend(self, &reqs[1], sbuf, (uint64_t)scount, s->type,
                      mpi_comm_world_rank(s->comm, (uint32_t)dest), stag, s->comm->ctx,
                      s->comm->handle, MPI_MODE_STANDARD);
    rc = mpi_p2p_waitall(self, reqs, 2);
    mpi_status_set(status, &reqs[0]);
    return rc;
}

int mpi_sendrecv_c(struct mpi_rank *self, const void *sendbuf, MPI_Count sendcount,
                   MPI_Datatype sendtype, int dest, int sendtag, void *recvbuf, MPI_Count recvcount,
                   MPI_Datatype recvtype, int source, int recvtag, MPI_Comm comm,
                   MPI_Status *status)
{
    struct mpi_sendargs s, r;
    int rc = mpi_check_send(self, sendbuf, sendcount, sendtype, dest, sendtag, comm, &s);

    if (rc == MPI_SUCCESS)
        rc = mpi_check_recv(self, recvbuf, recvcount, recvtype, source, recvtag, comm, &r);
    if (rc != MPI_SUCCESS)
        return rc;
    rc = exchange(self, sendbuf, sendcount, &s, dest, sendtag, recvbuf, recvcount, &r, source,
                  recvtag, status);
    return rc == MPI_SUCCESS ? rc : mpi_req_raise(self, comm, rc);
}

int mpi_sendrecv_replace_c(struct mpi_rank *self, void *buf, MPI_Count count, MPI_Datatype datatype,
                           int dest, int sendtag, int source, int recvtag, MPI_Comm comm,
                           MPI_Status *status)
{
    struct mpi_sendargs s, r, packed;
    uint64_t items = (uint64_t)count;
    void *copy;
    int rc = mpi_check_send(self, buf, count, datatype, dest, sendtag, comm, &s);

    if (rc == MPI_SUCCESS)
        rc = mpi_check_recv(self, buf, count, datatype, source, recvtag, comm, &r);
    if (rc != MPI_SUCCESS)
        return rc;
    copy = mpi_packed_copy(buf, items, s.type);
    packed = (struct mpi_sendargs){s.comm, mpi_type_of_packed(s.type, &items)};
    rc = exchange(self, copy, (MPI_Count)items, &packed, dest, sendtag, buf, count, &r, source,
                  recvtag, status);
    if (!mpi_is_hollow(copy))
        mem_free(copy);
    return rc == MPI_SUCCESS ? rc : mpi_req_raise(self, comm, rc);
}
