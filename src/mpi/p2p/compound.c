/*
 * compound.c - children of requests, and MPI_Isendrecv with its relatives (MPI-4.0 section 3.10).
 *
 * Children are orphans in the sense of request.c: the code that completes them releases them. None
 * has MPI_REQ_HEAP: it cannot be cancelled, so its match is a decision only if it is from any
 * source.
 */
#include "mpi/p2p/compound.h"

#include "base/mem.h"
#include "mpi_impl.h"

struct mpi_req *mpi_child_new(struct mpi_rank *self, struct mpi_req *parent, struct mpi_type *type)
{
    struct mpi_req *r = mpi_req_new(self);

    r->flags = MPI_REQ_CHILD;
    r->parent = parent;
    mpi_type_ref(type);
    r->type = type;
    return r;
}

void mpi_child_adopt(struct mpi_rank *self, struct mpi_req *child, int own_buf)
{
    child->flags |= own_buf ? MPI_REQ_OWN_BUF : 0;
    if (child->flags & MPI_REQ_DONE)
        mpi_req_release(child);
    else
        mpi_req_orphan(self, child);
}

void mpi_part_ended(struct mpi_req *parent, vtime t)
{
    if (t > parent->complete)
        parent->complete = t;
    if (--parent->parts)
        return;
    parent->flags |= MPI_REQ_DONE;
    if (parent->flags & MPI_REQ_ORPHAN)
        mpi_req_release(parent);
}

void mpi_child_ended(struct mpi_req *child)
{
    struct mpi_req *parent = child->parent;

    if (child->error != MPI_SUCCESS && parent->error == MPI_SUCCESS)
        parent->error = child->error;
    if (parent->kind == MPI_REQ_PRECV) {
        mpi_partitioned_arrived(parent, child);
    } else {
        if (child->kind == MPI_REQ_RECV) {
            parent->got_peer = child->got_peer;
            parent->got_tag = child->got_tag;
            parent->bytes = mpi_req_received(child);
        }
        mpi_part_ended(parent, mpi_req_received_at(child));
    }
}

/* ---- MPI_Isendrecv ---- */

void *mpi_packed_copy(const void *buf, uint64_t count, const struct mpi_type *type)
{
    void *copy;

    if (mpi_buffer_is_hollow(buf, type))
        return MPI_HOLLOW;
    copy = mem_alloc(type->size * count);
    mpi_type_pack(type, count, buf, copy);
    return copy;
}

struct side {
    void *buf;
    MPI_Count count;
    int peer, tag;
    struct mpi_sendargs a;
    int own_buf;
};

static void start_recv(struct mpi_rank *self, struct mpi_req *parent, const struct side *s)
{
    struct mpi_req *r;

    parent->parts++;
    parent->peer = mpi_source_world(s->a.comm, s->peer);
    parent->tag = s->tag;
    r = mpi_child_new(self, parent, s->a.type);
    if (mpi_costs_are_for_requests())
        mpi_costs_start(self);
    mpi_p2p_irecv(self, r, s->buf, (uint64_t)s->count, s->a.type, parent->peer, s->tag,
                  s->a.comm->ctx, s->a.comm->handle);
    mpi_child_adopt(self, r, 0);
}

static void start_send(struct mpi_rank *self, struct mpi_req *parent, const struct side *s)
{
    struct mpi_req *r;

    parent->parts++;
    r = mpi_child_new(self, parent, s->a.type);
    if (mpi_costs_are_for_requests())
        mpi_costs_start(self);
    mpi_p2p_isend(self, r, s->buf, (uint64_t)s->count, s->a.type,
                  mpi_comm_world_rank(s->a.comm, (uint32_t)s->peer), s->tag, s->a.comm->ctx,
                  s->a.comm->handle, MPI_MODE_STANDARD);
    mpi_child_adopt(self, r, s->own_buf);
}

/* One request for both; its status is the receive's. */
static MPI_Request start(struct mpi_rank *self, const struct side *send, const struct side *recv)
{
    struct mpi_req *r = mpi_req_new(self);

    mpi_drain(self);
    r->kind = MPI_REQ_PAIR;
    mpi_req_keep(r, send->a.comm, mpi_type_get(MPI_BYTE));
    r->ctx = send->a.comm->ctx;
    r->posted = self->ent.clock;
    r->got_peer = r->peer = MPI_PROC_NULL;
    r->got_tag = r->tag = MPI_ANY_TAG;
    r->parts = 1; /* not complete before both are started */
    if (recv->peer != MPI_PROC_NULL)
        start_recv(self, r, recv);
    if (send->peer != MPI_PROC_NULL)
        start_send(self, r, send);
    else if (send->own_buf)
        mem_free(send->buf);
    mpi_part_ended(r, self->ent.clock);
    return mpi_req_handle(r);
}

int mpi_isendrecv_c(struct mpi_rank *self, const void *sendbuf, MPI_Count sendcount,
                    MPI_Datatype sendtype, int dest, int sendtag, void *recvbuf,
                    MPI_Count recvcount, MPI_Datatype recvtype, int source, int recvtag,
                    MPI_Comm comm, MPI_Request *request)
{
    struct side s = {(void *)sendbuf, sendcount, dest, sendtag, {0}, 0};
    struct side r = {recvbuf, recvcount, source, recvtag, {0}, 0};
    int rc = mpi_check_send(self, sendbuf, sendcount, sendtype, dest, sendtag, comm, &s.a);

    if (rc == MPI_SUCCESS)
        rc = mpi_check_recv(self, recvbuf, recvcount, recvtype, source, recvtag, comm, &r.a);
    if (rc == MPI_SUCCESS)
        *request = start(self, &s, &r);
    return rc;
}

int mpi_isendrecv_replace_c(struct mpi_rank *self, void *buf, MPI_Count count,
                            MPI_Datatype datatype, int dest, int sendtag, int source, int recvtag,
                            MPI_Comm comm, MPI_Request *request)
{
    struct side s = {NULL, 0, dest, sendtag, {0}, 0};
    struct side r = {buf, count, source, recvtag, {0}, 0};
    uint64_t items = (uint64_t)count;
    int rc = mpi_check_send(self, buf, count, datatype, dest, sendtag, comm, &s.a);

    if (rc == MPI_SUCCESS)
        rc = mpi_check_recv(self, buf, count, datatype, source, recvtag, comm, &r.a);
    if (rc != MPI_SUCCESS)
        return rc;
    s.buf = mpi_packed_copy(buf, items, s.a.type);
    s.own_buf = !mpi_is_hollow(s.buf);
    s.a.type = mpi_type_of_packed(s.a.type, &items);
    s.count = (MPI_Count)items;
    *request = start(self, &s, &r);
    return MPI_SUCCESS;
}
