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
    return (uint32_t)i < guest.me->lane.id_count
               ? recorder_request(&native.rank, guest.me->lane.ids[i])
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
    for (int32_t i = 0; i < guest.me->answer->match_count; i++)
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

/* Completes a real request, and returns its error. */
static int finish(MPI_Request *requests, int at, MPI_Status *status)
{
    MPI_Request *request = &requests[at];
    int cancelled = is_cancelled(guest_number_at(at));
    if (guest.is_real)
        guest_told_forget(guest_number_at(at));
    if (guest_is_held(*request))
        return guest_finish_held(request, status, cancelled);
    if (cancelled)
        return finish_cancelled(request, status);
    int rc;
    GUEST_BLOCKING(rc = native_real.MPI_Wait(request, status));
    return rc;
}

static void finish_one(struct guest_call *g, MPI_Request *requests, int at)
{
    g->rc = finish(requests, at, status_at(g, 0));
    if (g->rc != MPI_SUCCESS)
        status_at(g, 0)->MPI_ERROR = g->rc;
}

/* The status `i` of several. If one has an error, all say whether they have; else MPI leaves what
 * programs have written there. */
static void finish_next(struct guest_call *g, MPI_Request *requests, int at, int i)
{
    int rc = finish(requests, at, status_at(g, i));
    for (int k = 0; rc != MPI_SUCCESS && g->rc == MPI_SUCCESS && k < i; k++)
        status_at(g, k)->MPI_ERROR = MPI_SUCCESS;
    if (rc != MPI_SUCCESS)
        g->rc = MPI_ERR_IN_STATUS;
    if (g->rc != MPI_SUCCESS)
        status_at(g, i)->MPI_ERROR = rc;
}

static void finish_all(struct guest_call *g, int count, MPI_Request *requests)
{
    for (int i = 0; i < count; i++)
        finish_next(g, requests, i, i);
}

/* None of them is held: errors are those of the real call. */
static void test_all(struct guest_call *g, int count, MPI_Request *requests, int *flag)
{
    MPI_Status *statuses = g->call.statuses ? status_at(g, 0) : MPI_STATUSES_IGNORE;
    for (int i = 0; guest.is_real && i < count; i++)
        guest_told_forget(guest_number_at(i));
    do
        GUEST_BLOCKING(g->rc = native_real.MPI_Testall(count, requests, flag, statuses));
    while (g->rc == MPI_SUCCESS && !*flag);
}

static void finish_some(struct guest_call *g, MPI_Request *requests, int *count, int *indices)
{
    const int32_t *which = guest_answer_indices();
    *count = guest.me->answer->flag == MPI_UNDEFINED ? MPI_UNDEFINED
                                                     : guest.me->answer->index_count;
    for (int i = 0; i < guest.me->answer->index_count; i++) {
        indices[i] = which[i];
        finish_next(g, requests, which[i], i);
    }
}

static void finish_any(struct guest_call *g, int count, MPI_Request *requests, int *index)
{
    *index = guest_answer_indices()[0];
    if (*index != MPI_UNDEFINED)
        finish_one(g, requests, *index);
    else if (count > 0) /* an empty status */
        native_real.MPI_Waitany(count, requests, index, status_at(g, 0));
}

static void get_status(struct guest_call *g, MPI_Request request, int *flag)
{
    *flag = guest.me->answer->flag;
    if (!*flag)
        return;
    if (guest_is_held(request)) {
        guest_held_status(request, status_at(g, 0));
        return;
    }
    for (int done = 0; !done;)
        GUEST_BLOCKING(g->rc = native_real.MPI_Request_get_status(request, &done, status_at(g, 0)));
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

/* The requests of a call; they are an array unless it completes one. */
static MPI_Request *requests_of(const struct guest_call *g, int *count)
{
    const struct mpi_effect *f = native_does(&g->call);
    *count = f->amount == MPI_AMOUNT_ONE ? 1 : (int)g->call.args[0];
    return (MPI_Request *)(uintptr_t)g->call.args[f->request];
}

/* Whether the answer is needed. */
static int any_is_held(const struct guest_call *g)
{
    int count;
    const MPI_Request *requests = requests_of(g, &count);
    for (int i = 0; requests && i < count; i++)
        if (guest_is_held(requests[i]) || (cancels.count && find_cancel(guest_number_at(i)) >= 0))
            return 1;
    return 0;
}

/* What the answer says is complete. */
static void finish_answered(struct guest_call *g)
{
    const struct mpi_effect *f = native_does(&g->call);
    const uint64_t *a = g->call.args;
    int count, *flag = f->flag >= 0 ? (int *)(uintptr_t)a[f->flag] : NULL,
               *index = f->index >= 0 ? (int *)(uintptr_t)a[f->index] : NULL;
    MPI_Request *requests = requests_of(g, &count);
    if (f->amount == MPI_AMOUNT_SOME) {
        finish_some(g, requests, (int *)(uintptr_t)a[f->out_count], index);
        return;
    }
    if (flag)
        *flag = guest.me->answer->flag;
    if (flag && index)
        *index = MPI_UNDEFINED;
    if (flag && !*flag)
        return;
    if (f->amount == MPI_AMOUNT_ONE)
        finish_one(g, requests, 0);
    else if (f->amount == MPI_AMOUNT_ANY)
        finish_any(g, count, requests, index);
    else if (flag && !any_is_held(g))
        test_all(g, count, requests, flag);
    else
        finish_all(g, count, requests);
}

int guest_complete(struct guest_call *g)
{
    const struct mpi_effect *f = native_does(&g->call);
    if (guest_kind(g->call.fn) == GUEST_WAITS && !any_is_held(g)) {
        guest_flush_blocking();
        return 0;
    }
    guest_flush(HYBRID_ASK_RESULT, 0);
    if (guest.is_real)
        guest_told_answer(g);
    guest_release();
    g->rc = MPI_SUCCESS;
    if (f->kind == MPI_DOES_INQUIRE)
        get_status(g, (MPI_Request)g->call.args[f->request],
                   (int *)(uintptr_t)g->call.args[f->flag]);
    else
        finish_answered(g);
    return 1;
}

/* MPI_Win_test and MPI_Parrived. */
int guest_test(struct guest_call *g)
{
    const struct mpi_effect *f = native_does(&g->call);
    const uint64_t *a = g->call.args;
    int is_win = f->win >= 0, *flag = (int *)(uintptr_t)a[f->flag];
    guest_flush(HYBRID_ASK_RESULT, 0);
    guest_release();
    if (guest.me->answer->is_failed)
        return 0; /* the real one says why */
    g->rc = MPI_SUCCESS;
    *flag = guest.me->answer->flag;
    if (is_win && *flag)
        GUEST_BLOCKING(g->rc = native_real.MPI_Win_wait((MPI_Win)a[f->win]));
    for (int done = is_win || !*flag; !done && g->rc == MPI_SUCCESS;)
        GUEST_BLOCKING(
            g->rc = native_real.MPI_Parrived((MPI_Request)a[f->request], (int)a[f->index], &done));
    return 1;
}
