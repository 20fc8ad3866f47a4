/*
 * test_api.c - MPI_Test, Testall, Testany, Testsome, Request_get_status, Cancel, Request_free.
 *
 * A test asks what is complete at the rank's own clock, after the cost of testing (mpi.test_cost,
 * never zero, so that polling loops end). A request with a known completion time needs no decision;
 * otherwise the test is a decision due at the clock.
 */
#include "mpi/check.h"
#include "mpi/p2p/compound.h"
#include "mpi_impl.h"

static void begin(struct mpi_rank *self, int n, const MPI_Request *requests)
{
    mpi_clock_add(self, mpi_world.test_cost);
    mpi_drain(self);
    mpi_greq_poll(self, n, requests);
}

/* Waits until it is certain whether r is complete now; returns whether it is. */
static int complete_now(struct mpi_rank *self, struct mpi_req *r)
{
    while (!(r->flags & MPI_REQ_DONE))
        if (mpi_decision_step(self, self->ent.clock, r))
            break;
    return (r->flags & MPI_REQ_DONE) && r->complete <= self->ent.clock;
}

/* complete_now for a call that reports the result to the program. */
static int test(struct mpi_rank *self, struct mpi_req *r)
{
    int complete = complete_now(self, r);

    if (!complete)
        mpi_observe_request(self, MPI_REQUEST_UNFINISHED, r);
    return complete;
}

int mpi_test(struct mpi_rank *self, MPI_Request *request, int *flag, MPI_Status *status)
{
    struct mpi_req *r;
    MPI_Comm comm;
    int rc = mpi_req_look_up(self, 1, request);

    if (rc != MPI_SUCCESS)
        return rc;
    begin(self, 1, request);
    r = mpi_req_pending(self, *request);
    *flag = !r || test(self, r);
    if (!r)
        mpi_status_empty(status);
    if (!r || !*flag)
        return MPI_SUCCESS;
    engine_progress(&mpi_world.engine, self->ent.clock);
    comm = (MPI_Comm)r->comm;
    rc = mpi_req_finish(self, r, request, status);
    return rc == MPI_SUCCESS ? rc : mpi_req_raise(self, comm, rc);
}

int mpi_request_get_status(struct mpi_rank *self, MPI_Request request, int *flag,
                           MPI_Status *status)
{
    struct mpi_req *r;
    int rc = mpi_req_look_up(self, 1, &request);

    if (rc != MPI_SUCCESS)
        return rc;
    begin(self, 1, &request);
    r = mpi_req_pending(self, request);
    *flag = !r || test(self, r);
    if (!r)
        mpi_status_empty(status);
    else if (*flag && r->kind == MPI_REQ_GREQ)
        rc = mpi_greq_query(self, r, status);
    else if (*flag)
        mpi_status_set(status, r);
    return rc == MPI_SUCCESS ? rc : mpi_req_raise(self, MPI_COMM_NULL, rc);
}

int mpi_testall(struct mpi_rank *self, int count, MPI_Request array_of_requests[], int *flag,
                MPI_Status array_of_statuses[])
{
    int rc = mpi_req_look_up(self, count, array_of_requests);

    if (rc != MPI_SUCCESS)
        return rc;
    begin(self, count, array_of_requests);
    *flag = 1;
    for (int i = 0; i < count && *flag; i++) {
        struct mpi_req *r = mpi_req_pending(self, array_of_requests[i]);

        *flag = !r || test(self, r);
    }
    if (!*flag)
        return MPI_SUCCESS;
    engine_progress(&mpi_world.engine, self->ent.clock);
    return mpi_finish_all(self, count, array_of_requests, array_of_statuses, 0);
}

int mpi_testany(struct mpi_rank *self, int count, MPI_Request array_of_requests[], int *indx,
                int *flag, MPI_Status *status)
{
    int live = 0, rc = mpi_req_look_up(self, count, array_of_requests);

    if (rc != MPI_SUCCESS)
        return rc;
    begin(self, count, array_of_requests);
    *flag = 0;
    *indx = MPI_UNDEFINED;
    for (int i = 0; i < count; i++) {
        struct mpi_req *r = mpi_req_pending(self, array_of_requests[i]);

        live += r != NULL;
        if (r && test(self, r)) {
            MPI_Comm comm = (MPI_Comm)r->comm;

            engine_progress(&mpi_world.engine, self->ent.clock);
            *flag = 1;
            *indx = i;
            rc = mpi_req_finish(self, r, &array_of_requests[i], status);
            return rc == MPI_SUCCESS ? rc : mpi_req_raise(self, comm, rc);
        }
    }
    if (!live) {
        *flag = 1;
        mpi_status_empty(status);
    }
    return MPI_SUCCESS;
}

int mpi_testsome(struct mpi_rank *self, int incount, MPI_Request array_of_requests[], int *outcount,
                 int array_of_indices[], MPI_Status array_of_statuses[])
{
    int live = 0, rc = mpi_req_look_up(self, incount, array_of_requests);

    if (rc != MPI_SUCCESS)
        return rc;
    begin(self, incount, array_of_requests);
    for (int i = 0; i < incount; i++) {
        struct mpi_req *r = mpi_req_pending(self, array_of_requests[i]);

        live += r != NULL;
        if (r)
            test(self, r);
    }
    if (!live) {
        *outcount = MPI_UNDEFINED;
        return MPI_SUCCESS;
    }
    return mpi_finish_some(self, incount, array_of_requests, self->ent.clock, outcount,
                           array_of_indices, array_of_statuses);
}

/* One whose source was chosen outside has its message there. */
int mpi_req_may_cancel(struct mpi_rank *self, struct mpi_req *r)
{
    return r->kind == MPI_REQ_RECV && !complete_now(self, r) &&
           (r->flags & (MPI_REQ_QUEUED | MPI_REQ_BOUND)) == MPI_REQ_QUEUED;
}

/*
 * A receive is cancelled if no message has matched it by now. Sends never are: the standard leaves
 * that to the implementation, and the send then completes normally.
 */
int mpi_cancel(struct mpi_rank *self, MPI_Request *request)
{
    struct mpi_req *r;
    int rc = mpi_req_look_up(self, 1, request);

    if (rc != MPI_SUCCESS)
        return rc;
    begin(self, 0, NULL);
    r = mpi_req_pending(self, *request);
    if (!r)
        return mpi_raise(self, MPI_COMM_NULL, MPI_ERR_REQUEST, "the request is not active");
    if (r->kind == MPI_REQ_GREQ) {
        rc = mpi_greq_cancel(self, r);
        return rc == MPI_SUCCESS ? rc : mpi_req_raise(self, MPI_COMM_NULL, rc);
    }
    if (r->kind == MPI_REQ_WORK && r->work)
        return mpi_raise(self, (MPI_Comm)r->comm, MPI_ERR_REQUEST,
                         "a collective operation cannot be cancelled");
    if (!mpi_req_may_cancel(self, r))
        return MPI_SUCCESS;
    mpi_unpost(self, r);
    mpi_ext_get(self)->decided = self->ent.clock;
    mpi_retry(self, self->ent.clock);
    r->flags |= MPI_REQ_CANCELLED | MPI_REQ_DONE;
    r->complete = self->ent.clock;
    r->error = MPI_SUCCESS;
    mpi_observe_request(self, MPI_REQUEST_CANCEL, r);
    return MPI_SUCCESS;
}

int mpi_test_cancelled(struct mpi_rank *self, const MPI_Status *status, int *flag)
{
    (void)self;
    *flag = status->count_hi_and_cancelled & 1;
    return MPI_SUCCESS;
}

int mpi_status_set_cancelled(struct mpi_rank *self, MPI_Status *status, int flag)
{
    (void)self;
    status->count_hi_and_cancelled = (status->count_hi_and_cancelled & ~1) | (flag != 0);
    return MPI_SUCCESS;
}

/* An incomplete request lives until it is complete. A generalized one is then freed by
 * MPI_Grequest_complete. */
int mpi_request_free(struct mpi_rank *self, MPI_Request *request)
{
    struct mpi_req *r = mpi_req_get(self, *request);
    int rc = MPI_SUCCESS;

    if (!r)
        return mpi_raise(self, MPI_COMM_NULL, MPI_ERR_REQUEST, "0x%x is not a live request",
                         (unsigned)*request);
    if (r->kind == MPI_REQ_WORK && r->work && !(r->flags & MPI_REQ_PERSISTENT))
        return mpi_raise(self, (MPI_Comm)r->comm, MPI_ERR_REQUEST,
                         "the request of a non-blocking collective cannot be freed");
    *request = MPI_REQUEST_NULL;
    mpi_drain(self);
    if (mpi_costs_are_for_requests())
        mpi_costs_end(self, r);
    mpi_observe_request(self, MPI_REQUEST_FREE, r);
    if (mpi_partitioned_is_unmet(r) || !(mpi_req_is_idle(r) || (r->flags & MPI_REQ_DONE)))
        mpi_req_orphan(self, r);
    else if (r->kind == MPI_REQ_GREQ)
        rc = mpi_greq_release(self, r);
    else
        mpi_req_release(r);
    return rc == MPI_SUCCESS ? rc : mpi_req_raise(self, MPI_COMM_NULL, rc);
}
