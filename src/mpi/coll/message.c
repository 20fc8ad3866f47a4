/*
 * message.c - see message.h. Ranks wait here, so there are few calls: what these keep is on the
 * stack of every waiting rank.
 */
#include "mpi/coll/message.h"

#include "mpi/p2p/strand.h"
#include "mpi/p2p/tags.h"

/* Does it belong to a collective with a cost model? */
static int is_free(const struct mpi_comm *c, int tag)
{
    return __builtin_expect(mpi_world.free_collectives, 0) && tag <= MPI_TAG_EXSCAN && !c->remote;
}

static void send_free(struct mpi_rank *self, struct mpi_comm *c, const void *buf, uint64_t count,
                      struct mpi_type *type, int dst, int tag)
{
    mpi_p2p_send_free(self, buf, count, type, mpi_comm_world_rank(c, (uint32_t)dst),
                      tag + mpi_strand_tag(), c->ctx + 1);
}

int mpi_coll_send(struct mpi_rank *self, struct mpi_comm *c, const void *buf, uint64_t count,
                  struct mpi_type *type, int dst, int tag)
{
    if (is_free(c, tag)) {
        send_free(self, c, buf, count, type, dst, tag);
        return MPI_SUCCESS;
    }
    return mpi_p2p_send(self, buf, count, type, mpi_comm_world_rank(c, (uint32_t)dst),
                        tag + mpi_strand_tag(), c->ctx + 1, c->handle, MPI_MODE_STANDARD);
}

/* For a group that is not a range: a separate function, so that its calls take no stack in waiting
 * ranks. */
__attribute__((noinline)) static int recv_listed(struct mpi_rank *self, struct mpi_comm *c,
                                                 void *buf, uint64_t count, struct mpi_type *type,
                                                 int src, int tag)
{
    return mpi_p2p_recv(self, buf, count, type, (int32_t)mpi_comm_world_rank(c, (uint32_t)src),
                        tag + mpi_strand_tag(), c->ctx + 1, c, MPI_STATUS_IGNORE);
}

int mpi_coll_recv(struct mpi_rank *self, struct mpi_comm *c, void *buf, uint64_t count,
                  struct mpi_type *type, int src, int tag)
{
    const struct mpi_group *g = c->remote ? c->remote : c->group;

    if (__builtin_expect(g->kind != MPI_GROUP_RANGE, 0))
        return recv_listed(self, c, buf, count, type, src, tag);
    return mpi_p2p_recv(self, buf, count, type, (int32_t)(g->first + src * g->stride),
                        tag + mpi_strand_tag(), c->ctx + 1, c, MPI_STATUS_IGNORE);
}

__attribute__((noinline)) static int sendrecv_slow(struct mpi_rank *self, struct mpi_comm *c,
                                                   const void *sbuf, uint64_t scount,
                                                   struct mpi_type *stype, int dst, void *rbuf,
                                                   uint64_t rcount, struct mpi_type *rtype, int src,
                                                   int tag)
{
    struct mpi_req here[2] = {{0}}, *kept = mpi_strand_reqs(2), *reqs = kept ? kept : here;
    int error;

    mpi_coll_irecv(self, c, &reqs[0], rbuf, rcount, rtype, src, tag);
    mpi_coll_isend(self, c, &reqs[1], sbuf, scount, stype, dst, tag);
    error = mpi_p2p_waitall(self, reqs, 2);
    if (kept)
        mpi_strand_reqs_free(kept, 2);
    return error;
}

int mpi_coll_sendrecv(struct mpi_rank *self, struct mpi_comm *c, const void *sbuf, uint64_t scount,
                      struct mpi_type *stype, int dst, void *rbuf, uint64_t rcount,
                      struct mpi_type *rtype, int src, int tag)
{
    if (is_free(c, tag))
        send_free(self, c, sbuf, scount, stype, dst, tag);
    else if (!mpi_p2p_try_send(self, sbuf, scount, stype, mpi_comm_world_rank(c, (uint32_t)dst),
                               tag + mpi_strand_tag(), c->ctx + 1, MPI_MODE_STANDARD))
        return sendrecv_slow(self, c, sbuf, scount, stype, dst, rbuf, rcount, rtype, src, tag);
    return mpi_coll_recv(self, c, rbuf, rcount, rtype, src, tag);
}

static void no_op(struct mpi_rank *self, struct mpi_req *req)
{
    req->kind = MPI_REQ_NOOP;
    req->flags |= MPI_REQ_DONE;
    req->complete = self->ent.clock;
    req->error = MPI_SUCCESS;
}

void mpi_coll_isend(struct mpi_rank *self, struct mpi_comm *c, struct mpi_req *req, const void *buf,
                    uint64_t count, struct mpi_type *type, int dst, int tag)
{
    req->flags = 0;
    if (dst >= 0 && is_free(c, tag))
        send_free(self, c, buf, count, type, dst, tag);
    if (dst < 0 || is_free(c, tag))
        no_op(self, req);
    else
        mpi_p2p_isend(self, req, buf, count, type, mpi_comm_world_rank(c, (uint32_t)dst),
                      tag + mpi_strand_tag(), c->ctx + 1, c->handle, MPI_MODE_STANDARD);
}

void mpi_coll_irecv(struct mpi_rank *self, struct mpi_comm *c, struct mpi_req *req, void *buf,
                    uint64_t count, struct mpi_type *type, int src, int tag)
{
    req->flags = 0;
    if (src < 0)
        no_op(self, req);
    else
        mpi_p2p_irecv(self, req, buf, count, type, (int32_t)mpi_comm_world_rank(c, (uint32_t)src),
                      tag + mpi_strand_tag(), c->ctx + 1, c->handle);
}
