/*
 * partitioned_api.c - partitioned communication: MPI-4.0 chapter 4.
 *
 * A partitioned send and receive are matched once, in the order of their init calls on a
 * communicator with a tag; then they form a *channel* for all their starts.
 *
 *     init    the sender numbers the channel and sends an offer: the number, how many partitions it
 *             has and their size. The receiver has posted a receive for it, on a separate context
 *             for offers.
 *     start   the receiver posts one receive per partition of the *sender*; context: the channel,
 *             tag: the partition. It needs the offer for that; if it has to wait for the offer, the
 *             receives count as posted at the later of both times.
 *     ready   the sender sends the partition like any message: eagerly or by rendezvous.
 *
 * The data of both sides is the same stream of bytes, divided differently. Partition p of the
 * receiver has arrived when all partitions of the sender that overlap it have.
 */
#include <string.h>

#include "base/mem.h"
#include "mpi/check.h"
#include "mpi/p2p/compound.h"
#include "mpi/verify.h"
#include "mpi_impl.h"

#define OFFER_CTX MPI_CTX_PARTITIONED /* | context of the communicator */
#define CHANNEL_CTX MPI_CTX_CHANNELS  /* | 2 * channel */
#define CHANNEL_MAX 0x1fffffffu

struct offer {
    uint64_t bytes; /* of one partition */
    uint32_t channel;
    uint32_t partitions;
};

struct mpi_partitions {
    struct offer own;  /* the channel is that of the sender on both sides */
    struct offer peer; /* receiver: as received */
    int met;           /* receiver: `peer` has arrived */
    vtime since;       /* receiver: when it arrived */
    vtime *at;         /* sender: when a partition was made ready; receiver: when a partition of the
                          sender arrived; VTIME_NEVER: not yet */
};

static struct mpi_req *make(struct mpi_rank *self, const void *buf, int partitions, MPI_Count count,
                            const struct mpi_sendargs *a, int peer, int tag, enum mpi_req_kind kind)
{
    struct mpi_req *r = mpi_req_new(self);

    r->flags |= MPI_REQ_PERSISTENT;
    r->kind = peer == MPI_PROC_NULL ? MPI_REQ_NOOP : kind;
    r->persistent_kind = r->kind;
    r->buf = (void *)buf;
    r->count = (uint64_t)count;
    mpi_req_keep(r, a->comm, a->type);
    r->tag = tag;
    r->ctx = a->comm->ctx;
    r->peer = MPI_PROC_NULL;
    if (peer == MPI_PROC_NULL)
        return r;
    r->peer = (int32_t)mpi_comm_world_rank(a->comm, (uint32_t)peer);
    r->partitions = mem_zalloc(sizeof *r->partitions);
    r->partitions->own.partitions = (uint32_t)partitions;
    r->partitions->own.bytes = r->count * a->type->size;
    return r;
}

static int check_count(struct mpi_rank *self, int partitions, MPI_Comm comm)
{
    if (partitions < 0)
        return mpi_raise(self, comm, MPI_ERR_ARG, "the number of partitions is %d", partitions);
    return MPI_SUCCESS;
}

int mpi_psend_init(struct mpi_rank *self, const void *buf, int partitions, MPI_Count count,
                   MPI_Datatype datatype, int dest, int tag, MPI_Comm comm, MPI_Info info,
                   MPI_Request *request)
{
    struct mpi_sendargs a;
    struct mpi_req *r;
    int rc = mpi_check_send(self, buf, count, datatype, dest, tag, comm, &a);

    (void)info;
    if (rc == MPI_SUCCESS)
        rc = check_count(self, partitions, comm);
    if (rc != MPI_SUCCESS)
        return rc;
    r = make(self, buf, partitions, count, &a, dest, tag, MPI_REQ_PSEND);
    if (r->kind == MPI_REQ_PSEND) {
        struct offer *o = &r->partitions->own;

        o->channel = mpi_rare_get(self)->channels++ & CHANNEL_MAX;
        r->partitions->at = mem_alloc((size_t)partitions * sizeof(vtime));
        mpi_drain(self);
        mpi_p2p_try_send(self, o, sizeof *o, mpi_type_get(MPI_BYTE), (uint32_t)r->peer, tag,
                         OFFER_CTX | r->ctx, MPI_MODE_BUFFERED);
    }
    *request = mpi_req_handle(r);
    return MPI_SUCCESS;
}

int mpi_precv_init(struct mpi_rank *self, void *buf, int partitions, MPI_Count count,
                   MPI_Datatype datatype, int source, int tag, MPI_Comm comm, MPI_Info info,
                   MPI_Request *request)
{
    struct mpi_sendargs a;
    struct mpi_req *r, *child;
    /* As for a send: a wildcard is not allowed. */
    int rc = mpi_check_send(self, buf, count, datatype, source, tag, comm, &a);

    (void)info;
    if (rc == MPI_SUCCESS)
        rc = check_count(self, partitions, comm);
    if (rc != MPI_SUCCESS)
        return rc;
    r = make(self, buf, partitions, count, &a, source, tag, MPI_REQ_PRECV);
    if (r->kind == MPI_REQ_PRECV) {
        child = mpi_child_new(self, r, mpi_type_get(MPI_BYTE));
        mpi_p2p_irecv(self, child, &r->partitions->peer, sizeof r->partitions->peer, child->type,
                      r->peer, tag, OFFER_CTX | r->ctx, comm);
        mpi_child_adopt(self, child, 0);
    }
    *request = mpi_req_handle(r);
    return MPI_SUCCESS;
}

/* ---- receiving ---- */

/* Posts the receive of the sender's partition i as of time t. */
static void post_one(struct mpi_rank *self, struct mpi_req *r, uint32_t i, vtime t)
{
    const struct mpi_partitions *p = r->partitions;
    uint64_t all = p->own.bytes * p->own.partitions, from = p->peer.bytes * i;
    struct mpi_req *child = mpi_child_new(self, r, mpi_type_get(MPI_BYTE));
    int hollow = mpi_buffer_is_hollow(r->buf, r->type), direct = r->type->contig || hollow;

    child->kind = MPI_REQ_RECV;
    child->count = from >= all ? 0 : all - from < p->peer.bytes ? all - from : p->peer.bytes;
    child->buf = hollow ? MPI_HOLLOW : direct ? (char *)r->buf + from : mem_alloc(child->count);
    child->peer = r->peer;
    child->tag = (int32_t)i;
    child->ctx = CHANNEL_CTX | p->peer.channel << 1;
    child->comm = r->comm;
    child->posted = t;
    mpi_post(self, child);
    mpi_child_adopt(self, child, !direct);
}

/* All of them. `parts` has one more, for the posting itself. */
static void post_all(struct mpi_rank *self, struct mpi_req *r, vtime t)
{
    struct mpi_partitions *p = r->partitions;

    r->parts += p->peer.partitions;
    for (uint32_t i = 0; i < p->peer.partitions; i++)
        p->at[i] = VTIME_NEVER;
    for (uint32_t i = 0; i < p->peer.partitions; i++)
        post_one(self, r, i, t);
    mpi_part_ended(r, t);
}

/* The offer has come. */
static void meet(struct mpi_req *r, vtime t)
{
    struct mpi_partitions *p = r->partitions;

    p->met = 1;
    p->since = t;
    if (mpi_world.checking)
        mpi_verify_parts(&mpi_world.ranks[r->owner], r, p->peer.bytes * p->peer.partitions,
                         p->own.bytes * p->own.partitions);
    p->at = mem_alloc(p->peer.partitions * sizeof(vtime));
    if (r->flags & MPI_REQ_ACTIVE)
        post_all(&mpi_world.ranks[r->owner], r, t > r->posted ? t : r->posted);
    else if (r->flags & MPI_REQ_ORPHAN)
        mpi_req_release(r);
}

void mpi_partitioned_arrived(struct mpi_req *r, const struct mpi_req *child)
{
    struct mpi_partitions *p = r->partitions;
    uint64_t bytes = mpi_req_received(child);

    if (child->ctx < CHANNEL_CTX) {
        meet(r, mpi_req_received_at(child));
        return;
    }
    if (!r->type->contig)
        mpi_type_unpack_range(r->type, r->count * p->own.partitions, r->buf,
                              p->peer.bytes * (uint64_t)child->tag, child->buf, bytes);
    r->bytes += bytes;
    p->at[child->tag] = mpi_req_received_at(child);
    mpi_part_ended(r, p->at[child->tag]);
}

int mpi_partitioned_is_unmet(const struct mpi_req *r)
{
    return r->kind == MPI_REQ_PRECV && !r->partitions->met;
}

void mpi_partitioned_free(struct mpi_req *r)
{
    mem_free(r->partitions->at);
    mem_free(r->partitions);
    r->partitions = NULL;
}

/* ---- starting, making ready, testing ---- */

void mpi_partitioned_start(struct mpi_rank *self, struct mpi_req *r)
{
    struct mpi_partitions *p = r->partitions;

    r->posted = r->complete = self->ent.clock;
    r->error = MPI_SUCCESS;
    r->bytes = 0;
    r->got_peer = r->peer;
    r->got_tag = r->tag;
    r->parts = 1;
    if (r->kind == MPI_REQ_PSEND) {
        r->parts += p->own.partitions;
        for (uint32_t i = 0; i < p->own.partitions; i++)
            p->at[i] = VTIME_NEVER;
        mpi_part_ended(r, r->posted);
    } else if (p->met) {
        post_all(self, r, r->posted > p->since ? r->posted : p->since);
    }
}

/* The started partitioned request behind a handle, or one to MPI_PROC_NULL. */
static int find(struct mpi_rank *self, MPI_Request request, enum mpi_req_kind kind,
                struct mpi_req **out)
{
    struct mpi_req *r = mpi_req_get(self, request);

    if (!r)
        return mpi_raise(self, MPI_COMM_NULL, MPI_ERR_REQUEST, "0x%x is not a live request",
                         (unsigned)request);
    if (r->kind != kind && !(r->kind == MPI_REQ_NOOP && (r->flags & MPI_REQ_PERSISTENT)))
        return mpi_raise(self, MPI_COMM_NULL, MPI_ERR_REQUEST, "not a partitioned %s",
                         kind == MPI_REQ_PSEND ? "send" : "receive");
    if (!(r->flags & MPI_REQ_ACTIVE))
        return mpi_raise(self, MPI_COMM_NULL, MPI_ERR_REQUEST, "the request is not started");
    *out = r;
    return MPI_SUCCESS;
}

static int check_partition(struct mpi_rank *self, const struct mpi_req *r, int partition)
{
    uint32_t n = r->partitions->own.partitions;

    if (partition >= 0 && (uint32_t)partition < n)
        return MPI_SUCCESS;
    return mpi_raise(self, MPI_COMM_NULL, MPI_ERR_ARG, "partition %d is not in 0..%d", partition,
                     (int)n - 1);
}

static int make_ready(struct mpi_rank *self, struct mpi_req *r, int partition)
{
    struct mpi_req *child;
    struct mpi_partitions *p = r->partitions;
    int rc = check_partition(self, r, partition);

    if (rc != MPI_SUCCESS)
        return rc;
    if (p->at[partition] != VTIME_NEVER)
        return mpi_raise(self, MPI_COMM_NULL, MPI_ERR_ARG, "partition %d is ready already",
                         partition);
    p->at[partition] = self->ent.clock;
    child = mpi_child_new(self, r, r->type);
    mpi_p2p_isend(self, child,
                  (char *)r->buf + (int64_t)r->count * r->type->extent * (int64_t)partition,
                  r->count, r->type, (uint32_t)r->peer, partition,
                  CHANNEL_CTX | p->own.channel << 1, (MPI_Comm)r->comm, MPI_MODE_STANDARD);
    mpi_child_adopt(self, child, 0);
    return MPI_SUCCESS;
}

int mpi_pready(struct mpi_rank *self, int partition, MPI_Request request)
{
    return mpi_pready_range(self, partition, partition, request);
}

int mpi_pready_range(struct mpi_rank *self, int partition_low, int partition_high,
                     MPI_Request request)
{
    struct mpi_req *r;
    int rc = find(self, request, MPI_REQ_PSEND, &r);

    if (rc != MPI_SUCCESS || r->kind == MPI_REQ_NOOP)
        return rc;
    mpi_drain(self);
    for (int i = partition_low; i <= partition_high && rc == MPI_SUCCESS; i++)
        rc = make_ready(self, r, i);
    return rc;
}

int mpi_pready_list(struct mpi_rank *self, int length, int array_of_partitions[],
                    MPI_Request request)
{
    struct mpi_req *r;
    int rc = find(self, request, MPI_REQ_PSEND, &r);

    if (rc != MPI_SUCCESS || r->kind == MPI_REQ_NOOP)
        return rc;
    if (length < 0 || (length && !array_of_partitions))
        return mpi_raise(self, MPI_COMM_NULL, MPI_ERR_ARG, "not a list of %d partitions", length);
    mpi_drain(self);
    for (int i = 0; i < length && rc == MPI_SUCCESS; i++)
        rc = make_ready(self, r, array_of_partitions[i]);
    return rc;
}

/* When the partition arrived, VTIME_NEVER if that is unknown. */
static vtime arrived(const struct mpi_req *r, int partition)
{
    const struct mpi_partitions *p = r->partitions;
    uint64_t from = p->own.bytes * (uint64_t)partition, to = from + p->own.bytes;
    vtime t = r->posted;

    if (!p->met)
        return VTIME_NEVER;
    if (from == to || !p->peer.bytes)
        return t;
    for (uint64_t i = from / p->peer.bytes; i * p->peer.bytes < to && i < p->peer.partitions; i++)
        if (p->at[i] > t)
            t = p->at[i];
    return t;
}

int mpi_parrived(struct mpi_rank *self, MPI_Request request, int partition, int *flag)
{
    struct mpi_req *r;
    int rc = find(self, request, MPI_REQ_PRECV, &r);

    if (rc == MPI_SUCCESS && r->kind != MPI_REQ_NOOP)
        rc = check_partition(self, r, partition);
    if (rc == MPI_SUCCESS)
        rc = mpi_check_ptr(self, MPI_COMM_NULL, flag, "flag");
    if (rc != MPI_SUCCESS)
        return rc;
    mpi_clock_add(self, mpi_world.test_cost);
    mpi_drain(self);
    *flag = 1;
    if (r->kind == MPI_REQ_NOOP)
        return MPI_SUCCESS;
    while (arrived(r, partition) == VTIME_NEVER)
        if (mpi_decision_step(self, self->ent.clock, r))
            break;
    *flag = arrived(r, partition) <= self->ent.clock;
    if (*flag)
        engine_progress(&mpi_world.engine, self->ent.clock);
    return MPI_SUCCESS;
}
