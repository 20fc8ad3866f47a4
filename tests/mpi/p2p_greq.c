/* test: n=1,2
 * Generalized requests: query and free functions are called when and as often as the standard
 * says, the status is the query function's, cancel tells whether the request was complete, and poll
 * functions make progress in waiting and testing. */
#include "check.h"

struct state {
    int queried, freed, cancelled, complete_at_cancel, polled, wanted;
    MPI_Request request;
};

static int query(void *extra, MPI_Status *status)
{
    struct state *s = extra;

    s->queried++;
    MPI_Status_set_elements(status, MPI_INT, 42);
    MPI_Status_set_cancelled(status, s->cancelled != 0);
    status->MPI_SOURCE = 17;
    status->MPI_TAG = 18;
    return MPI_SUCCESS;
}

static int release(void *extra)
{
    ((struct state *)extra)->freed++;
    return MPI_SUCCESS;
}

static int cancel(void *extra, int complete)
{
    struct state *s = extra;

    s->cancelled++;
    s->complete_at_cancel = complete;
    return MPI_SUCCESS;
}

static int failing_query(void *extra, MPI_Status *status)
{
    (void)extra;
    (void)status;
    return MPI_ERR_OTHER;
}

static int poll(void *extra, MPI_Status *status)
{
    struct state *s = extra;

    (void)status;
    if (++s->polled == s->wanted)
        MPI_Grequest_complete(s->request);
    return MPI_SUCCESS;
}

static int wait_for(int count, void **extra, double timeout, MPI_Status *status)
{
    (void)timeout;
    for (int i = 0; i < count; i++)
        for (struct state *s = extra[i]; s->polled < s->wanted;)
            poll(s, status);
    return MPI_SUCCESS;
}

static void lifetime(void)
{
    struct state s = {0};
    MPI_Request request;
    MPI_Status status;
    int flag = -1, count;

    MPI_Grequest_start(query, release, cancel, &s, &request);
    MPI_Test(&request, &flag, &status);
    CHECK(!flag && !s.queried);
    MPI_Grequest_complete(request);
    MPI_Request_get_status(request, &flag, &status);
    CHECK(flag && s.queried == 1 && !s.freed);
    MPI_Wait(&request, &status);
    MPI_Get_count(&status, MPI_INT, &count);
    CHECK(s.queried == 2 && s.freed == 1 && count == 42);
    CHECK(status.MPI_SOURCE == 17 && status.MPI_TAG == 18 && request == MPI_REQUEST_NULL);
}

static void cancelling(void)
{
    struct state s = {0};
    MPI_Request request;
    MPI_Status status;
    int flag;

    MPI_Grequest_start(query, release, cancel, &s, &request);
    MPI_Cancel(&request);
    CHECK(s.cancelled == 1 && !s.complete_at_cancel);
    MPI_Grequest_complete(request);
    MPI_Wait(&request, &status);
    MPI_Test_cancelled(&status, &flag);
    CHECK(flag && s.freed == 1);
}

/* Freed by the program first, then completed; and the other way round. */
static void freeing(void)
{
    struct state s = {0};
    MPI_Request request, copy;

    MPI_Grequest_start(query, release, cancel, &s, &request);
    copy = request;
    MPI_Request_free(&request);
    CHECK(request == MPI_REQUEST_NULL);
    MPI_Grequest_complete(copy);
    CHECK(s.freed == 1);
    MPI_Grequest_start(query, release, cancel, &s, &request);
    MPI_Grequest_complete(request);
    MPI_Request_free(&request);
    CHECK(s.freed == 2 && !s.queried);
}

static void among_others(void)
{
    struct state s = {0};
    MPI_Request request[3];
    MPI_Status status[3];
    int me = check_rank(), out = 5, in = 0, count, indices[3];

    MPI_Grequest_start(query, release, cancel, &s, &request[1]);
    MPI_Irecv(&in, 1, MPI_INT, me, 1, MPI_COMM_WORLD, &request[0]);
    MPI_Isend(&out, 1, MPI_INT, me, 1, MPI_COMM_WORLD, &request[2]);
    MPI_Grequest_complete(request[1]);
    MPI_Waitall(3, request, status);
    CHECK(in == 5 && s.freed == 1 && status[1].MPI_TAG == 18);

    MPI_Grequest_start(query, release, cancel, &s, &request[0]);
    MPI_Grequest_start(query, release, cancel, &s, &request[1]);
    MPI_Grequest_complete(request[1]);
    MPI_Waitsome(2, request, &count, indices, status);
    CHECK(count == 1 && indices[0] == 1 && s.freed == 2);
    MPI_Grequest_complete(request[0]);
    MPI_Waitany(2, request, &count, status);
    CHECK(count == 0 && s.freed == 3);
}

static void errors(void)
{
    struct state s = {0};
    MPI_Request request;
    int error_class;

    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Grequest_start(failing_query, release, cancel, &s, &request);
    MPI_Grequest_complete(request);
    MPI_Error_class(MPI_Wait(&request, MPI_STATUS_IGNORE), &error_class);
    CHECK(error_class == MPI_ERR_OTHER && s.freed == 1);
    MPI_Error_class(MPI_Grequest_complete(MPI_REQUEST_NULL), &error_class);
    CHECK(error_class == MPI_ERR_REQUEST);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

static void polling(void)
{
    struct state s = {.wanted = 3};
    int flag = 0, rounds = 0;

    MPIX_Grequest_start(query, release, cancel, poll, wait_for, &s, &s.request);
    MPI_Request copy = s.request;
    MPI_Wait(&copy, MPI_STATUS_IGNORE);
    CHECK(s.polled == 3 && s.freed == 1);
    s = (struct state){.wanted = 2};
    MPIX_Grequest_start(query, release, cancel, poll, wait_for, &s, &s.request);
    copy = s.request;
    while (!flag && rounds++ < 10)
        MPI_Test(&copy, &flag, MPI_STATUS_IGNORE);
    CHECK(flag && s.freed == 1);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    lifetime();
    cancelling();
    freeing();
    among_others();
    errors();
    polling();
    check_ok("generalized requests");
    MPI_Finalize();
    return 0;
}
