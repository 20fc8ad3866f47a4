/*
 * own.c - what Orrery's own MPI programs ask of the simulator (run/own.h).
 */
#include "mpi/main/own.h"

#include <stddef.h>

#include "base/mem.h"
#include "mpi/comm/app.h"
#include "mpi/clock.h"
#include "mpi/comm/comm.h"
#include "mpi/comm/errhandler.h"
#include "mpi/entry.h"
#include "mpi/p2p/bind.h"
#include "mpi/p2p/request.h"
#include "processor/processor.h"

ORR_EXPORT int64_t orrery_own_rank(void);
ORR_EXPORT unsigned orrery_own_process(void);
ORR_EXPORT int64_t orrery_own_clock(void);
ORR_EXPORT void orrery_own_spend(int64_t picoseconds);
ORR_EXPORT void orrery_own_compute(int64_t picoseconds);
ORR_EXPORT double orrery_own_speed(void);
ORR_EXPORT int64_t orrery_own_clock_cost(void);
ORR_EXPORT void orrery_own_wait(int count, const int *requests, int64_t until, unsigned char *done);
ORR_EXPORT void *orrery_own_common(size_t bytes, void (*fini)(void *));
ORR_EXPORT int orrery_own_matched(uint32_t request, int *source, int *tag);
ORR_EXPORT void orrery_own_return_errors(void);
ORR_EXPORT void orrery_own_bind_begin(void);
ORR_EXPORT void orrery_own_bind(uint32_t request, int source);
ORR_EXPORT int orrery_own_may_bind(uint32_t request);
ORR_EXPORT int orrery_own_may_cancel(void);
ORR_EXPORT int orrery_own_hold(uint32_t request);

static struct {
    void *memory;
    void (*fini)(void *);
} common;

int64_t orrery_own_rank(void)
{
    struct mpi_rank *self = mpi_self();
    const struct mpi_app *app = mpi_app_of(self);

    return app ? mpi_comm_my_rank(app->world, self) : (int64_t)mpi_rank_id(self);
}

unsigned orrery_own_process(void)
{
    return mpi_rank_map()->proc;
}

int64_t orrery_own_clock(void)
{
    return mpi_self()->ent.clock;
}

static void spend(struct mpi_rank *self, vtime host, vtime charged)
{
    if (charged <= 0)
        return;
    mpi_clock_begin(self);
    mpi_clock_add(self, charged);
    mpi_observe_slice(self, &(struct mpi_seen_slice){.fn = MPI_FN_COUNT,
                                                     .declared = 1,
                                                     .host = host,
                                                     .charged = charged});
    mpi_clock_end();
}

void orrery_own_spend(int64_t picoseconds)
{
    spend(mpi_self(), picoseconds, picoseconds);
}

double orrery_own_speed(void)
{
    return processor_speed(mpi_rank_index(mpi_self()));
}

int64_t orrery_own_clock_cost(void)
{
    return mpi_world.clock_cost;
}

void orrery_own_compute(int64_t picoseconds)
{
    struct mpi_rank *self = mpi_self();
    double speed = processor_speed(mpi_rank_index(self));
    vtime charged = speed == 1 ? picoseconds : vtime_scale(picoseconds, 1 / speed);

    if (charged > 0)
        spend(self, picoseconds, processor_declare(mpi_rank_index(self), self->ent.clock, charged));
}

void orrery_own_wait(int count, const int *requests, int64_t until, unsigned char *done)
{
    struct mpi_rank *self = mpi_self();

    mpi_clock_begin(self);
    vtime t = mpi_req_await(self, count, requests, until);
    mpi_clock_reach(self, t);
    engine_progress(&mpi_world.engine, self->ent.clock);
    for (int i = 0; i < count; i++) {
        const struct mpi_req *r = mpi_req_pending(self, requests[i]);

        done[i] = !r || ((r->flags & MPI_REQ_DONE) && r->complete <= self->ent.clock);
    }
    mpi_clock_end();
}

void *orrery_own_common(size_t bytes, void (*fini)(void *))
{
    if (!common.memory) {
        common.memory = mem_zalloc(bytes);
        common.fini = fini;
    }
    return common.memory;
}

int orrery_own_matched(uint32_t request, int *source, int *tag)
{
    const struct mpi_req *r = mpi_req_get_any(mpi_self(), (MPI_Request)request);
    const struct mpi_comm *comm = r ? mpi_req_comm(r) : NULL;

    if (!comm || (r->kind == MPI_REQ_PAIR && r->got_peer == MPI_PROC_NULL))
        return 0; /* its receive has not ended */
    if (r->kind != MPI_REQ_PAIR &&
        (r->kind != MPI_REQ_RECV || r->flags & (MPI_REQ_QUEUED | MPI_REQ_CANCELLED) ||
         mpi_req_is_idle(r)))
        return 0;
    *source = mpi_comm_rank_of(comm, (uint32_t)r->got_peer);
    *tag = r->got_tag;
    return 1;
}

void orrery_own_return_errors(void)
{
    struct mpi_rank *self = mpi_self();

    mpi_errhandler_set_for(self, mpi_comm_get(MPI_COMM_WORLD), MPI_ERRORS_RETURN);
    mpi_errhandler_set_for(self, mpi_comm_get(MPI_COMM_SELF), MPI_ERRORS_RETURN);
}

void orrery_own_bind_begin(void)
{
    mpi_bind_begin();
}

void orrery_own_bind(uint32_t request, int source)
{
    struct mpi_rank *self = mpi_self();
    struct mpi_req *r = request ? mpi_req_get_any(self, (MPI_Request)request) : NULL;

    if (r)
        mpi_bind(self, mpi_bind_receive(self, r), source);
    else if (!request)
        mpi_bind_next(self, source);
}

int orrery_own_may_bind(uint32_t request)
{
    struct mpi_rank *self = mpi_self();
    struct mpi_req *r = mpi_req_get_any(self, (MPI_Request)request);
    const struct mpi_msg *m;

    r = r ? mpi_bind_receive(self, r) : NULL;
    m = r && (r->flags & MPI_REQ_UNBOUND) ? mpi_bind_candidate(self, r) : NULL;

    return m && m->em.arrival <= self->ent.clock;
}

int orrery_own_may_cancel(void)
{
    return mpi_world.may_cancel;
}

int orrery_own_hold(uint32_t request)
{
    struct mpi_rank *self = mpi_self();
    struct mpi_req *r = mpi_req_pending(self, (MPI_Request)request);

    mpi_drain(self);
    if (!r || !mpi_req_may_cancel(self, r) || !(r->flags & MPI_REQ_WILD))
        return 0;
    mpi_bind_hold(r);
    return 1;
}

void mpi_own_end(void)
{
    if (common.fini)
        common.fini(common.memory);
}
