/*
 * probe_api.c - MPI_Probe, Iprobe, Mprobe, Improbe, Mrecv, Imrecv.
 *
 * A probe from a named source sees the first matching message of that source: this is not a
 * decision. From any source it is one, due at max(now, earliest arrival). A message that an
 * undecided wildcard receive may take is not visible to a probe before that decision.
 *
 * A matched message (Mprobe) is a request of kind RECV that holds its message.
 */
#include "mpi/p2p/bind.h"
#include "mpi/p2p/request.h"
#include "mpi_impl.h"

struct probe {
    uint32_t ctx;
    int32_t src; /* world rank or MPI_P2P_ANY */
    int32_t tag;
    int is_bound; /* the source was chosen outside (bind.h) */
};

static struct mpi_msg *look(struct mpi_rank *self, const struct probe *p)
{
    struct mpi_msg *m;

    if (p->src == MPI_P2P_ANY)
        return mpi_early_find_any(self, p->ctx, p->tag, NULL);
    m = mpi_early_find(self, p->ctx, (uint32_t)p->src, p->tag);
    return m && !mpi_claimer(self, m) ? m : NULL;
}

static void block(struct mpi_rank *self, vtime due, const struct probe *p, MPI_Comm comm)
{
    struct mpi_req r = {.kind = MPI_REQ_RECV, .peer = p->src, .tag = p->tag, .comm = (uint32_t)comm};

    mpi_block(self, due, 1, &r);
    mpi_drain(self);
}

/* When a probe may see the message: it may have been withheld until the last decision. */
static vtime visible(const struct mpi_rank *self, const struct mpi_msg *m)
{
    vtime t = self->ext ? self->ext->decided : 0;

    if (m->em.arrival > t)
        t = m->em.arrival;
    return t > self->ent.clock ? t : self->ent.clock;
}

/* Blocks until the answer is certain: the message, or NULL if none has arrived by `limit`. */
static struct mpi_msg *await(struct mpi_rank *self, const struct probe *p, vtime limit,
                             MPI_Comm comm)
{
    mpi_drain(self);
    for (;;) {
        struct mpi_msg *m = look(self, p);
        vtime due = m ? visible(self, m) : limit, wild;

        if (m && p->src != MPI_P2P_ANY)
            return due <= limit ? m : NULL;
        if (due > limit)
            due = limit;
        if (mpi_decide(self, due, &wild)) {
            mpi_drain(self);
            continue;
        }
        if (due != VTIME_NEVER && wild > due &&
            engine_is_safe(&mpi_world.engine, mpi_rank_index(self), due))
            return m && visible(self, m) <= due ? m : NULL;
        block(self, wild < due ? wild : due, p, comm);
    }
}

static int check(struct mpi_rank *self, int source, int tag, MPI_Comm comm, struct probe *p)
{
    struct mpi_comm *c = mpi_comm_get(comm);
    int rc;

    if (!c)
        return mpi_raise(self, comm, MPI_ERR_COMM, "invalid communicator 0x%x", (unsigned)comm);
    rc = mpi_check_source(self, source, tag, comm, c);
    if (rc == MPI_SUCCESS && source != MPI_PROC_NULL)
        *p = (struct probe){c->ctx, mpi_source_world(c, source), tag, 0};
    if (rc == MPI_SUCCESS && source == MPI_ANY_SOURCE && mpi_world.binds)
        p->is_bound = mpi_bind_take(self, c, &p->src);
    return rc;
}

static void set_status(MPI_Status *status, const struct mpi_msg *m, MPI_Comm comm)
{
    struct mpi_req r = {.kind = MPI_REQ_RECV,
                        .got_peer = (int32_t)m->em.src,
                        .got_tag = m->tag,
                        .bytes = m->bytes,
                        .comm = (uint32_t)comm};

    mpi_status_set(status, &r);
}

static void set_status_null(MPI_Status *status)
{
    struct mpi_req r = {.kind = MPI_REQ_NOOP};

    mpi_status_set(status, &r);
}

/* Removes the message from the queue; the handle holds it. */
static MPI_Message hold(struct mpi_rank *self, struct mpi_msg *m, struct mpi_comm *c)
{
    struct mpi_req *r = mpi_req_new(self);

    mpi_early_take(self, m);
    r->kind = MPI_REQ_RECV;
    mpi_req_keep(r, c, mpi_type_get(MPI_BYTE));
    r->held = m;
    r->ctx = m->ctx;
    return (MPI_Message)mpi_req_handle(r);
}

/* All four probes. `flag` and `message` are NULL for calls without them. */
static int probe(struct mpi_rank *self, int source, int tag, MPI_Comm comm, int *flag,
                 MPI_Message *message, MPI_Status *status)
{
    struct probe p = {0};
    struct mpi_msg *m;
    int rc = check(self, source, tag, comm, &p);

    if (rc != MPI_SUCCESS)
        return rc;
    if (flag)
        mpi_clock_add(self, mpi_world.test_cost);
    if (source == MPI_PROC_NULL) {
        set_status_null(status);
        if (flag)
            *flag = 1;
        if (message)
            *message = MPI_MESSAGE_NO_PROC;
        return MPI_SUCCESS;
    }
    m = await(self, &p, flag ? self->ent.clock : VTIME_NEVER, comm);
    if (flag)
        *flag = m != NULL;
    if (message)
        *message = MPI_MESSAGE_NULL;
    if (!m)
        return MPI_SUCCESS;
    if (p.is_bound)
        mpi_bind_seen(self, p.ctx, p.tag, m);
    mpi_clock_reach(self, visible(self, m));
    if (mpi_costs_are_for_receives())
        mpi_costs_look(self, m->em.arrival);
    engine_progress(&mpi_world.engine, self->ent.clock);
    set_status(status, m, comm);
    if (message)
        *message = hold(self, m, mpi_comm_get(comm));
    return MPI_SUCCESS;
}

int mpi_probe(struct mpi_rank *self, int source, int tag, MPI_Comm comm, MPI_Status *status)
{
    return probe(self, source, tag, comm, NULL, NULL, status);
}

int mpi_iprobe(struct mpi_rank *self, int source, int tag, MPI_Comm comm, int *flag,
               MPI_Status *status)
{
    return probe(self, source, tag, comm, flag, NULL, status);
}

int mpi_mprobe(struct mpi_rank *self, int source, int tag, MPI_Comm comm, MPI_Message *message,
               MPI_Status *status)
{
    return probe(self, source, tag, comm, NULL, message, status);
}

int mpi_improbe(struct mpi_rank *self, int source, int tag, MPI_Comm comm, int *flag,
                MPI_Message *message, MPI_Status *status)
{
    return probe(self, source, tag, comm, flag, message, status);
}

/* Turns a message handle into a started receive. */
static int matched(struct mpi_rank *self, void *buf, MPI_Count count, MPI_Datatype type,
                   MPI_Message *message, struct mpi_req **out)
{
    struct mpi_req *r;
    struct mpi_type *t = mpi_type_get(type);
    struct mpi_msg *m;

    if (*message == MPI_MESSAGE_NO_PROC) {
        r = mpi_req_new(self);
        r->flags |= MPI_REQ_DONE;
        r->complete = self->ent.clock;
        *message = MPI_MESSAGE_NULL;
        *out = r;
        return MPI_SUCCESS;
    }
    r = mpi_req_get(self, (MPI_Request)*message);
    if (!r || (r->flags & MPI_REQ_QUEUED) || !r->held)
        return mpi_raise(self, MPI_COMM_NULL, MPI_ERR_REQUEST, "not a matched message");
    if (!t || !t->committed)
        return mpi_raise(self, MPI_COMM_NULL, MPI_ERR_TYPE, "invalid datatype 0x%x",
                         (unsigned)type);
    m = r->held;
    r->held = NULL;
    r->buf = buf;
    r->count = (uint64_t)count;
    mpi_type_ref(t);
    mpi_type_unref(r->type);
    r->type = t;
    r->peer = (int32_t)m->em.src;
    r->tag = m->tag;
    r->posted = self->ent.clock;
    if (mpi_costs_are_for_receives()) {
        mpi_costs_post(self, r);
        r->pending = 0; /* it was matched by the probe */
    }
    mpi_match(self, r, m, r->posted);
    *message = MPI_MESSAGE_NULL;
    *out = r;
    return MPI_SUCCESS;
}

int mpi_imrecv_c(struct mpi_rank *self, void *buf, MPI_Count count, MPI_Datatype datatype,
                 MPI_Message *message, MPI_Request *request)
{
    struct mpi_req *r;
    int rc = matched(self, buf, count, datatype, message, &r);

    if (rc == MPI_SUCCESS)
        *request = mpi_req_handle(r);
    return rc;
}

int mpi_mrecv_c(struct mpi_rank *self, void *buf, MPI_Count count, MPI_Datatype datatype,
                MPI_Message *message, MPI_Status *status)
{
    MPI_Request request;
    int rc = mpi_imrecv_c(self, buf, count, datatype, message, &request);

    return rc == MPI_SUCCESS ? mpi_wait(self, &request, status) : rc;
}
