/*
 * service.c - the queue of an agent: a binary heap by (arrival, source, order of delivery).
 *
 * Messages of one source are delivered in the order in which they were sent, so "order of delivery"
 * is the order of sending among messages of one source, the only ones that can tie in arrival and
 * source.
 */
#include "mpi/p2p/service.h"

#include <assert.h>

#include "base/heap.h"
#include "base/hostile.h"
#include "base/mem.h"
#include "mpi/above.h"

struct entry {
    vtime arrival;
    uint32_t src, order;
    struct mpi_msg *m;
};

HEAP_STRUCT(arrivals, struct entry);

struct mpi_service_queue {
    struct arrivals arrivals;
    uint32_t coming; /* messages so far */
};

/* ---- sending ---- */

struct mpi_msg *mpi_service_new(struct mpi_rank *self, uint32_t dst, enum mpi_service service,
                                uint64_t payload)
{
    struct mpi_msg *m = (struct mpi_msg *)engine_msg_alloc(&mpi_world.engine,
                                                           sizeof(struct mpi_msg) + payload);

    m->em.src = mpi_rank_id(self);
    m->em.dst = dst;
    m->kind = MPI_MSG_SERVICE;
    m->service = (uint8_t)service;
    m->cookie = 0;
    m->bytes = 0;
    m->tag = 0;
    m->ctx = 0;
    return m;
}

static struct device_sent send(struct mpi_msg *m, const struct device_send *how)
{
    m->em.flags |= m->kind == MPI_MSG_REPLY ? ENGINE_MSG_URGENT : ENGINE_MSG_DUE;
    return device_send(&mpi_world.device, &m->em, how);
}

struct device_sent mpi_service_send(struct mpi_msg *m, struct device_send how)
{
    how.order = MPI_ORDER_PROGRAM;
    return send(m, &how);
}

void mpi_service_send_on(struct mpi_msg *m, uint64_t bytes, vtime t)
{
    send(m, &(struct device_send){.t = t, .bytes = bytes});
}

struct mpi_msg *mpi_service_answer(struct mpi_rank *self, const struct mpi_msg *to,
                                   uint64_t payload)
{
    struct mpi_msg *m = mpi_service_new(self, to->em.src, (enum mpi_service)to->service, payload);

    m->kind = MPI_MSG_REPLY;
    m->cookie = to->cookie;
    return m;
}

void mpi_service_reply(struct mpi_msg *answer, uint64_t bytes, vtime t)
{
    send(answer, &(struct device_send){.t = t, .bytes = bytes, .order = MPI_ORDER_AGENT});
}

static int is_set(struct mpi_rank *self, const void *flag)
{
    (void)self;
    return *(const int *)flag;
}

void mpi_service_await(struct mpi_rank *self, const int *done, const vtime *arrival,
                       struct mpi_req *shown)
{
    vtime due;

    for (;;) {
        mpi_drain(self);
        if (*done)
            break;
        if (!mpi_decide(self, VTIME_NEVER, &due))
            mpi_block_until(self, due, 1, shown, is_set, done);
    }
    assert(*arrival >= 0 && *arrival <= VTIME_LIMIT);
    mpi_clock_reach(self, *arrival);
    mpi_clock_add(self, mpi_world.recv_overhead);
}

/* ---- the queue ---- */

static int before(const struct entry *a, const struct entry *b)
{
    if (a->arrival != b->arrival)
        return a->arrival < b->arrival;
    if (a->src != b->src)
        return a->src < b->src;
    return (int32_t)(a->order - b->order) < 0;
}

HEAP_FUNCTIONS(arrivals, struct entry, 2, 4, before, HEAP_UNTRACKED);

void mpi_service_arrive(struct mpi_rank *self, struct mpi_msg *m)
{
    struct mpi_ext *ext = mpi_ext_get(self);
    struct mpi_service_queue *q = ext->services;

    assert_hot(m->kind == MPI_MSG_SERVICE && m->em.dst == mpi_rank_id(self));
    if (!q)
        q = ext->services = mem_zalloc(sizeof *q);
    arrivals_push(&q->arrivals, (struct entry){m->em.arrival, m->em.src, q->coming++, m});
}

void mpi_service_replied(struct mpi_rank *self, struct mpi_msg *m)
{
    mpi_world.above->services[m->service].reply(self, m);
}

void mpi_service_sent(struct mpi_rank *self, const struct mpi_msg *m)
{
    uint64_t service = (m->cookie & MPI_SERVICE_BITS) - 1;

    mpi_world.above->services[service].sent(self,
                                            (void *)(uintptr_t)(m->cookie &
                                                                ~(uint64_t)MPI_SERVICE_BITS),
                                            m->em.arrival);
}

vtime mpi_service_due(const struct mpi_rank *self)
{
    return mpi_has_services(self) ? self->ext->services->arrivals.at[0].arrival : VTIME_NEVER;
}

static void release(struct mpi_ext *ext)
{
    assert(ext->services->arrivals.len == 0);
    mem_free(ext->services->arrivals.at);
    mem_free(ext->services);
    ext->services = NULL;
}

void mpi_service_next(struct mpi_rank *self)
{
    struct mpi_service_queue *q = self->ext->services;
    struct mpi_msg *m = arrivals_pop(&q->arrivals).m;

    assert_hot(!q->arrivals.len || q->arrivals.at[0].arrival >= m->em.arrival);
    if (q->arrivals.len == 0)
        release(self->ext);
    mpi_world.above->services[m->service].serve(self, m, m->em.arrival);
}
