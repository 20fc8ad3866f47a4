/*
 * seen.c - reports messages and requests to observers.
 *
 * An observed message carries its number in its last 8 bytes, after payload and signature: the
 * allocation is that much longer (`numbered`). Steps of a rendezvous pass it on.
 */
#include "mpi/observe.h"

#include <string.h>

#include "mpi/p2p/request.h"

/* A part of another request is reported as that request. */
static MPI_Request handle_of(const struct mpi_req *req)
{
    if (req && (req->flags & MPI_REQ_CHILD))
        req = req->parent;
    return req && (req->flags & MPI_REQ_HEAP) ? mpi_req_handle(req) : MPI_REQUEST_NULL;
}

static int is_receive(const struct mpi_req *r)
{
    return r->kind == MPI_REQ_RECV || r->kind == MPI_REQ_PRECV ||
           (r->kind == MPI_REQ_PAIR && r->got_peer != MPI_PROC_NULL);
}

void mpi_see_sent(struct mpi_rank *self, uint32_t dst, int tag, uint32_t ctx, uint64_t bytes,
                  const struct mpi_req *req)
{
    struct mpi_seen_message s = {.src = mpi_rank_id(self),
                                 .dst = dst,
                                 .ctx = ctx,
                                 .tag = tag,
                                 .bytes = bytes,
                                 .request = handle_of(req)};

    s.number = ++mpi_rare_get(self)->sent;
    mpi_tell_sent(self, self->ent.clock, &s);
}

static char *number_at(struct mpi_msg *m)
{
    return (char *)m + m->em.size - sizeof(uint64_t);
}

void mpi_msg_number(struct mpi_msg *m, uint64_t number)
{
    m->numbered = 1;
    memcpy(number_at(m), &number, sizeof number);
}

uint64_t mpi_msg_number_of(const struct mpi_msg *m)
{
    uint64_t number = 0;

    if (m->numbered)
        memcpy(&number, number_at((struct mpi_msg *)m), sizeof number);
    return number;
}

/* The payload of a rendezvous comes alone: the request has the rest. */
void mpi_see_received(struct mpi_rank *self, const struct mpi_msg *m, const struct mpi_req *req,
                      vtime t)
{
    int is_data = m->kind == MPI_MSG_DATA;
    struct mpi_seen_message s = {.src = m->em.src,
                                 .dst = m->em.dst,
                                 .ctx = is_data ? req->ctx : m->ctx,
                                 .tag = is_data ? req->got_tag : m->tag,
                                 .bytes = m->bytes,
                                 .number = mpi_msg_number_of(m),
                                 .request = handle_of(req)};

    if (m->kind != MPI_MSG_FREE && (!(s.ctx & 1) || mpi_world.frequent & MPI_COLLECTIVE_MESSAGES))
        mpi_tell_received(self, t, &s);
}

void mpi_see_request(struct mpi_rank *self, enum mpi_request_step step, const struct mpi_req *r)
{
    struct mpi_seen_request s = {.step = step,
                                 .request = handle_of(r),
                                 .kind = r->kind,
                                 .persistent = (r->flags & MPI_REQ_PERSISTENT) != 0,
                                 .cancelled = (r->flags & MPI_REQ_CANCELLED) != 0,
                                 .source = -1};

    if (r->flags & MPI_REQ_CHILD)
        return; /* part of another request */
    if (step == MPI_REQUEST_COMPLETE && is_receive(r) && !s.cancelled) {
        s.source = r->got_peer;
        s.tag = r->got_tag;
        s.bytes = r->bytes; /* of the message, even if the buffer is smaller */
    } else if (step == MPI_REQUEST_COMPLETE && r->kind == MPI_REQ_SEND) {
        s.tag = r->tag;
        s.bytes = r->bytes;
    }
    mpi_tell_request(self, self->ent.clock, &s);
}

void mpi_see_new_request(struct mpi_rank *self, MPI_Request handle)
{
    const struct mpi_req *r = mpi_req_get(self, handle);

    if (r)
        mpi_see_request(self, mpi_req_is_idle(r) ? MPI_REQUEST_MADE : MPI_REQUEST_START, r);
}
