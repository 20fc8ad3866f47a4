/*
 * wait_api.c - MPI_Wait, Waitall, Waitany, Waitsome.
 *
 * Waiting for all needs no decision but those of wildcard receives. Waitany and Waitsome ask which
 * is first: a decision due at max(now, earliest known completion), unless every request's
 * completion is known. Of several complete at the time of the call, Waitany takes the first in the
 * array; otherwise the earliest.
 */
#include "mpi/p2p/compound.h"
#include "base/hostile.h"
#include "mpi/side.h"
#include "mpi_impl.h"

/* Is a request of the array complete now, or none live? */
static int any_complete(struct mpi_rank *self, int n, const MPI_Request *hs)
{
    int live = 0;

    for (int i = 0; i < n; i++) {
        struct mpi_req *r = mpi_req_pending(self, hs[i]);

        live += r != NULL;
        if (r && (r->flags & MPI_REQ_DONE) && r->complete <= self->ent.clock)
            return 1;
    }
    return !live;
}

/* Calls the poll functions of generalized requests until they are complete (or with `any`, until
 * one is); each round costs time, so that others make progress. */
static void poll(struct mpi_rank *self, int n, const MPI_Request *hs, int any)
{
    while (mpi_greq_poll(self, n, hs) && !(any && any_complete(self, n, hs))) {
        mpi_clock_add(self, mpi_world.test_cost);
        mpi_drain(self);
        while (!mpi_decision_step(self, self->ent.clock, NULL))
            ;
    }
}

/* Blocks for the array of requests, of which `first` is pending. It is inlined: what it needs to
 * explain the wait is live in its callers anyway. With a condition it waits for all of them, else
 * for any. */
static inline __attribute__((always_inline)) void block_for(struct mpi_rank *self, vtime due,
                                                            uint32_t needed, struct mpi_req *first,
                                                            mpi_holds *holds, int n,
                                                            const MPI_Request *hs)
{
    int asked = mpi_block_asked(self, due, needed, first, holds, first);

    for (; __builtin_expect(asked, 0); asked = self->ent.wake == ENGINE_WAKE_EXPLAIN) {
        mpi_explain_handles(self, hs, n, !holds);
        mpi_side_explained();
    }
}

int mpi_wait(struct mpi_rank *self, MPI_Request *request, MPI_Status *status)
{
    struct mpi_req *r;
    MPI_Comm comm;
    int rc = mpi_req_look_up(self, 1, request);

    if (rc != MPI_SUCCESS)
        return rc;
    r = mpi_req_pending(self, *request);
    if (!r) {
        mpi_status_empty(status);
        return MPI_SUCCESS;
    }
    if (r->kind == MPI_REQ_GREQ)
        poll(self, 1, request, 0);
    mpi_p2p_wait(self, r);
    comm = (MPI_Comm)r->comm;
    rc = mpi_req_finish(self, r, request, status);
    return rc == MPI_SUCCESS ? rc : mpi_req_raise(self, comm, rc);
}

#define COUNT_AHEAD HOSTILE(2u, 2048u) /* pending requests examined to count the arrivals needed */

/*
 * The first pending request from *from on, which is advanced to it: those before it stay complete,
 * so all searches of one call are linear together. The search stops at a failed request. *needed:
 * arrivals without which not all can be complete.
 */
static struct mpi_req *first_pending(struct mpi_rank *self, int n, const MPI_Request *hs, int *from,
                                     uint32_t *needed)
{
    struct mpi_req *first = NULL;
    uint32_t pending = 0;

    *needed = 0;
    for (int i = *from; i < n && pending < COUNT_AHEAD; i++) {
        struct mpi_req *r = mpi_req_pending(self, hs[i]);

        if (!r)
            continue;
        if (r->flags & MPI_REQ_DONE) {
            if (!first && r->error != MPI_SUCCESS)
                break; /* the call ends here */
            continue;
        }
        if (!first) {
            first = r;
            *from = i;
            if (mpi_wild_count(self))
                break;
        }
        pending++;
        *needed += (r->flags & MPI_REQ_QUEUED) != 0;
    }
    if (*needed == 0)
        *needed = 1;
    return first;
}

/* After a failure the others are not examined any more. */
static void mark_pending(struct mpi_rank *self, int from, int n, const MPI_Request *hs,
                         MPI_Status *statuses)
{
    for (int i = from; i < n && statuses != MPI_STATUSES_IGNORE; i++)
        statuses[i].MPI_ERROR = mpi_req_pending(self, hs[i]) ? MPI_ERR_PENDING : MPI_SUCCESS;
}

/* Describes why one of the requests failed. */
__attribute__((cold, noinline)) static int raise_failed(struct mpi_rank *self, int failed, int n)
{
    char text[MPI_MISFIT_TEXT];
    const char *why = mpi_misfit_text(self, text, sizeof text);

    return mpi_raise(self, MPI_COMM_NULL, MPI_ERR_IN_STATUS, "%d of %d requests failed%s%s", failed,
                     n, why ? ": " : "", why ? why : "");
}

/* The requests that are complete at time t take their processor time, first come first served. */
static void charge_all(struct mpi_rank *self, int n, const MPI_Request *hs, vtime t)
{
    struct mpi_charges charges = {0};

    for (int i = 0; i < n && mpi_receives_cost(); i++) {
        struct mpi_req *r = mpi_req_pending(self, hs[i]);

        if (r && (r->flags & MPI_REQ_DONE) && r->complete <= t)
            mpi_charges_add(&charges, r);
    }
    mpi_charges_settle(self, &charges);
}

static void watch_all(struct mpi_rank *self, int n, const MPI_Request *hs)
{
    struct net_overcommit_set set = {0};

    for (int i = 0; i < n; i++) {
        const struct mpi_req *r = mpi_req_pending(self, hs[i]);

        if (r)
            mpi_p2p_watch_waited(self, &set, r);
    }
    net_overcommit_judge(&mpi_world.net, mpi_rank_id(self), &set);
}

int mpi_finish_all(struct mpi_rank *self, int n, MPI_Request *hs, MPI_Status *statuses,
                   int stop_at_error)
{
    int failed = 0;

    if (mpi_p2p_watches(self))
        watch_all(self, n, hs);
    charge_all(self, n, hs, VTIME_NEVER);
    for (int i = 0; i < n; i++) {
        struct mpi_req *r = mpi_req_pending(self, hs[i]);
        MPI_Status *s = statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : &statuses[i];
        int rc = MPI_SUCCESS;

        if (r)
            rc = mpi_req_finish(self, r, &hs[i], s);
        else
            mpi_status_empty(s);
        if (s != MPI_STATUS_IGNORE)
            s->MPI_ERROR = rc;
        failed += rc != MPI_SUCCESS;
        if (failed && stop_at_error) {
            mark_pending(self, i + 1, n, hs, statuses);
            break;
        }
    }
    if (failed)
        return raise_failed(self, failed, n);
    return MPI_SUCCESS;
}

int mpi_waitall(struct mpi_rank *self, int count, MPI_Request array_of_requests[],
                MPI_Status array_of_statuses[])
{
    int from = 0, rc = mpi_req_look_up(self, count, array_of_requests);

    if (rc != MPI_SUCCESS)
        return rc;
    poll(self, count, array_of_requests, 0);
    for (;;) {
        struct mpi_req *pending;
        uint32_t needed;
        vtime due;

        mpi_drain(self);
        pending = first_pending(self, count, array_of_requests, &from, &needed);
        if (!pending)
            break;
        if (!mpi_decide(self, VTIME_NEVER, &due))
            block_for(self, due, needed, pending, mpi_req_is_done, count, array_of_requests);
    }
    return mpi_finish_all(self, count, array_of_requests, array_of_statuses, 1);
}

/* What is known about an array of requests. */
struct view {
    vtime first;             /* earliest known completion, or VTIME_NEVER */
    int unknown;             /* requests whose completion is not known yet */
    int live;                /* requests that are not null or idle */
    struct mpi_req *pending; /* one of the unknown */
};

static void look(struct mpi_rank *self, int n, const MPI_Request *hs, struct view *v)
{
    *v = (struct view){.first = VTIME_NEVER};
    for (int i = 0; i < n; i++) {
        struct mpi_req *r = mpi_req_pending(self, hs[i]);

        if (!r)
            continue;
        v->live++;
        if (!(r->flags & MPI_REQ_DONE)) {
            v->unknown++;
            if (!v->pending)
                v->pending = r;
        } else if (r->complete < v->first) {
            v->first = r->complete;
        }
    }
}

/* Blocks until it is certain what completes first, but not beyond `limit`; returns when
 * (VTIME_NEVER: nothing live). */
static inline __attribute__((always_inline)) vtime await_until(struct mpi_rank *self, int n,
                                                               const MPI_Request *hs, vtime limit)
{
    mpi_drain(self);
    for (;;) {
        struct view v;
        vtime due;

        look(self, n, hs, &v);
        if (!v.live)
            return VTIME_NEVER;
        due = v.first == VTIME_NEVER      ? VTIME_NEVER
              : v.first > self->ent.clock ? v.first
                                          : self->ent.clock;
        if (due > limit)
            due = limit;
        if (!v.unknown)
            return due;
        if (due == VTIME_NEVER) {
            vtime wild;

            if (!mpi_decide(self, VTIME_NEVER, &wild))
                block_for(self, wild, 1, v.pending, NULL, n, hs);
            mpi_drain(self);
        } else if (mpi_decision_step(self, due, v.pending)) {
            look(self, n, hs, &v); /* a wildcard may just have been decided */
            if (v.first >= due || due == self->ent.clock)
                return due;
        }
    }
}

static vtime await_first(struct mpi_rank *self, int n, const MPI_Request *hs)
{
    return await_until(self, n, hs, VTIME_NEVER);
}

vtime mpi_req_await(struct mpi_rank *self, int n, const MPI_Request *hs, vtime limit)
{
    vtime t = await_until(self, n, hs, limit > self->ent.clock ? limit : self->ent.clock);

    return t < limit ? t : limit;
}

/* Index of what Waitany returns at time t. */
static int pick(struct mpi_rank *self, int n, const MPI_Request *hs, vtime t)
{
    for (int i = 0; i < n; i++) {
        struct mpi_req *r = mpi_req_pending(self, hs[i]);

        if (r && (r->flags & MPI_REQ_DONE) && r->complete <= t)
            return i;
    }
    return -1;
}

int mpi_waitany(struct mpi_rank *self, int count, MPI_Request array_of_requests[], int *indx,
                MPI_Status *status)
{
    struct mpi_req *r;
    MPI_Comm comm;
    vtime t;
    int rc = mpi_req_look_up(self, count, array_of_requests);

    if (rc != MPI_SUCCESS)
        return rc;
    poll(self, count, array_of_requests, 1);
    t = await_first(self, count, array_of_requests);
    if (t == VTIME_NEVER) {
        *indx = MPI_UNDEFINED;
        mpi_status_empty(status);
        return MPI_SUCCESS;
    }
    engine_progress(&mpi_world.engine, t);
    *indx = pick(self, count, array_of_requests, t);
    r = mpi_req_get(self, array_of_requests[*indx]);
    comm = (MPI_Comm)r->comm;
    rc = mpi_req_finish(self, r, &array_of_requests[*indx], status);
    return rc == MPI_SUCCESS ? rc : mpi_req_raise(self, comm, rc);
}

int mpi_finish_some(struct mpi_rank *self, int n, MPI_Request *hs, vtime t, int *outcount,
                    int *indices, MPI_Status *statuses)
{
    int done = 0, failed = 0;

    charge_all(self, n, hs, t);
    for (int i = 0; i < n; i++) {
        struct mpi_req *r = mpi_req_pending(self, hs[i]);
        MPI_Status *s = statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : &statuses[done];
        int rc;

        if (!r || !(r->flags & MPI_REQ_DONE) || r->complete > t)
            continue;
        rc = mpi_req_finish(self, r, &hs[i], s);
        if (s != MPI_STATUS_IGNORE)
            s->MPI_ERROR = rc;
        failed += rc != MPI_SUCCESS;
        indices[done++] = i;
    }
    *outcount = done;
    if (done)
        engine_progress(&mpi_world.engine, self->ent.clock);
    if (failed)
        return raise_failed(self, failed, done);
    return MPI_SUCCESS;
}

int mpi_waitsome(struct mpi_rank *self, int incount, MPI_Request array_of_requests[], int *outcount,
                 int array_of_indices[], MPI_Status array_of_statuses[])
{
    vtime t;
    int rc = mpi_req_look_up(self, incount, array_of_requests);

    if (rc != MPI_SUCCESS)
        return rc;
    poll(self, incount, array_of_requests, 1);
    t = await_first(self, incount, array_of_requests);
    if (t == VTIME_NEVER) {
        *outcount = MPI_UNDEFINED;
        return MPI_SUCCESS;
    }
    return mpi_finish_some(self, incount, array_of_requests, t, outcount, array_of_indices,
                           array_of_statuses);
}
