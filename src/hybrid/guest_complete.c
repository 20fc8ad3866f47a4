/*
 * guest_complete.c - calls that complete requests: the stand-in decides which are complete, and the
 * process completes the same real ones, for which it may have to wait.
 */
#include "hybrid/guest.h"

#include "base/array.h"
#include "base/log.h"
#include "mpi_roles.h"

static MPI_Status *status_at(struct guest_call *g, int i)
{
    return g->call.statuses ? (MPI_Status *)(uintptr_t)&g->call.statuses[i] : &g->call.own;
}

/* Receives that the program has tried to cancel, by number. */
static struct {
    int64_t *numbers;
    uint32_t count, room;
} cancels;

int64_t guest_number_at(int i)
{
    return (uint32_t)i < guest.lane.id_count ? recorder_request(&native.rank, guest.lane.ids[i])
                                             : -1;
}

static int find_cancel(int64_t number)
{
    for (uint32_t i = 0; i < cancels.count; i++)
        if (cancels.numbers[i] == number)
            return (int)i;
    return -1;
}

/* Whether the request was cancelled, according to the answer. */
static int is_cancelled(int64_t number)
{
    const struct hybrid_match *m = guest_answer_matches();
    int at = cancels.count ? find_cancel(number) : -1;
    if (at < 0)
        return 0;
    cancels.numbers[at] = cancels.numbers[--cancels.count];
    for (int32_t i = 0; i < guest.answer->match_count; i++)
        if (m[i].request == number && m[i].source == HYBRID_CANCELLED)
            return 1;
    return 0;
}

/* A receive of a program that was not known to cancel any: in the simulator no message has come in
 * time, so none may have come here. */
static int finish_cancelled(MPI_Request *request, MPI_Status *status)
{
    int is_done = 0;
    native_real.MPI_Cancel(request);
    int rc = native_real.MPI_Wait(request, status);
    native_real.MPI_Test_cancelled(status, &is_done);
    if (!is_done)
        log_fatal("a receive is cancelled in virtual time, but has its message already");
    return rc;
}

static void finish(struct guest_call *g, MPI_Request *requests, int at, MPI_Status *status,
                   int is_one)
{
    MPI_Request *request = &requests[at];
    int cancelled = is_cancelled(guest_number_at(at));
    if (guest.is_real)
        guest_told_forget(guest_number_at(at));
    int rc = guest_is_held(*request) ? guest_finish_held(request, status, cancelled)
             : cancelled             ? finish_cancelled(request, status)
                                     : native_real.MPI_Wait(request, status);
    if (rc == MPI_SUCCESS)
        return;
    status->MPI_ERROR = rc;
    g->rc = is_one ? rc : MPI_ERR_IN_STATUS;
}

static void finish_all(struct guest_call *g, int count, MPI_Request *requests)
{
    for (int i = 0; i < count; i++)
        finish(g, requests, i, status_at(g, i), 0);
}

/* None of them is held: errors are those of the real call. */
static void test_all(struct guest_call *g, int count, MPI_Request *requests, int *flag)
{
    MPI_Status *statuses = g->call.statuses ? status_at(g, 0) : MPI_STATUSES_IGNORE;
    for (int i = 0; guest.is_real && i < count; i++)
        guest_told_forget(guest_number_at(i));
    do
        g->rc = native_real.MPI_Testall(count, requests, flag, statuses);
    while (g->rc == MPI_SUCCESS && !*flag);
}

static void finish_some(struct guest_call *g, MPI_Request *requests, int *count, int *indices)
{
    const int32_t *which = guest_answer_indices();
    *count = guest.answer->flag == MPI_UNDEFINED ? MPI_UNDEFINED : guest.answer->index_count;
    for (int i = 0; i < guest.answer->index_count; i++) {
        indices[i] = which[i];
        finish(g, requests, which[i], status_at(g, i), 0);
    }
}

static void finish_any(struct guest_call *g, int count, MPI_Request *requests, int *index)
{
    *index = guest_answer_indices()[0];
    if (*index != MPI_UNDEFINED)
        finish(g, requests, *index, status_at(g, 0), 1);
    else if (count > 0) /* an empty status */
        native_real.MPI_Waitany(count, requests, index, status_at(g, 0));
}

static void get_status(struct guest_call *g, MPI_Request request, int *flag)
{
    *flag = guest.answer->flag;
    for (int done = !*flag; !done;)
        g->rc = native_real.MPI_Request_get_status(request, &done, status_at(g, 0));
}

int guest_cancel(struct guest_call *g)
{
    g->rc = MPI_SUCCESS;
    if (guest.is_real && guest.may_cancel) {
        guest_told_cancel((MPI_Request *)(uintptr_t)g->call.args[0], guest_number_at(0));
        return 1;
    }
    ARRAY_RESERVE(cancels.numbers, cancels.room, cancels.count + 1, 16);
    cancels.numbers[cancels.count++] = guest_number_at(0);
    return 1;
}

/* Nobody will ask whether the receive was cancelled in time, and its message is for another one. */
void guest_free_cancelled(MPI_Request *request, int64_t number)
{
    int at = cancels.count ? find_cancel(number) : -1;
    if (at < 0)
        return;
    cancels.numbers[at] = cancels.numbers[--cancels.count];
    if (!guest_is_held(*request))
        native_real.MPI_Cancel(request);
}

/* Whether the answer is needed. */
static int any_is_held(const struct guest_call *g)
{
    const struct mpi_arg *arg = &mpi_fn_signature[g->call.fn].args[0];
    int is_array = arg->role == MPI_ROLE_COUNT, count = is_array ? (int)g->call.args[0] : 1;
    const MPI_Request *requests = (const MPI_Request *)(uintptr_t)g->call.args[is_array];
    for (int i = 0; requests && i < count; i++)
        if (guest_is_held(requests[i]) || (cancels.count && find_cancel(guest_number_at(i)) >= 0))
            return 1;
    return 0;
}

int guest_complete(struct guest_call *g)
{
    const uint64_t *a = g->call.args;
    int count = (int)a[0];
    MPI_Request *request = (MPI_Request *)(uintptr_t)a[0],
                *requests = (MPI_Request *)(uintptr_t)a[1];
    int is_wait = guest_kind(g->call.fn) == GUEST_WAITS;
    if (is_wait && !any_is_held(g)) {
        guest_flush_blocking();
        return 0;
    }
    guest_flush(HYBRID_ASK_RESULT, 0);
    if (guest.is_real)
        guest_told_answer(g);
    guest_release();
    g->rc = MPI_SUCCESS;
    switch (g->call.fn) {
    case MPI_FN_WAIT:
        finish(g, request, 0, status_at(g, 0), 1);
        break;
    case MPI_FN_WAITALL:
        finish_all(g, count, requests);
        break;
    case MPI_FN_WAITANY:
        finish_any(g, count, requests, (int *)(uintptr_t)a[2]);
        break;
    case MPI_FN_TEST:
        *(int *)(uintptr_t)a[1] = guest.answer->flag;
        if (guest.answer->flag)
            finish(g, request, 0, status_at(g, 0), 1);
        break;
    case MPI_FN_TESTALL:
        *(int *)(uintptr_t)a[2] = guest.answer->flag;
        if (guest.answer->flag && any_is_held(g))
            finish_all(g, count, requests);
        else if (guest.answer->flag)
            test_all(g, count, requests, (int *)(uintptr_t)a[2]);
        break;
    case MPI_FN_TESTANY:
        *(int *)(uintptr_t)a[3] = guest.answer->flag;
        *(int *)(uintptr_t)a[2] = MPI_UNDEFINED;
        if (guest.answer->flag)
            finish_any(g, count, requests, (int *)(uintptr_t)a[2]);
        break;
    case MPI_FN_WAITSOME:
    case MPI_FN_TESTSOME:
        finish_some(g, requests, (int *)(uintptr_t)a[2], (int *)(uintptr_t)a[3]);
        break;
    default:
        get_status(g, (MPI_Request)a[0], (int *)(uintptr_t)a[1]);
    }
    return 1;
}

/* MPI_Win_test and MPI_Parrived. */
int guest_test(struct guest_call *g)
{
    const uint64_t *a = g->call.args;
    int is_win = g->call.fn == MPI_FN_WIN_TEST, *flag = (int *)(uintptr_t)a[is_win ? 1 : 2];
    guest_flush(HYBRID_ASK_RESULT, 0);
    guest_release();
    if (guest.answer->is_failed)
        return 0; /* the real one says why */
    g->rc = MPI_SUCCESS;
    *flag = guest.answer->flag;
    if (is_win && *flag)
        g->rc = native_real.MPI_Win_wait((MPI_Win)a[0]);
    for (int done = is_win || !*flag; !done && g->rc == MPI_SUCCESS;)
        g->rc = native_real.MPI_Parrived((MPI_Request)a[0], (int)a[1], &done);
    return 1;
}
