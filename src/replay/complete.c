/*
 * complete.c - the completion of requests: of one, and of all that a call is given. Those of some
 * are in complete_some.c. All follow Böhme et al.:
 *
 *  - 3, basic approach: a request number of the trace leads to an MPI_Request (requests.c), which
 *    MPI_Wait or MPI_Waitall completes where the trace has a completion.
 *  - 3.1, "Simulating Waitany": a call that completes some of its requests gets all that the
 *    original was given, and may complete others. What it completes in place of a recorded request
 *    is *remapped*: from then on each of the two numbers means the other request.
 *  - 3.1, "Simulating Tests": a test that had failed may succeed: the completion is *moved forward*
 *    (there: pre-drawn) to it. Later records of that request are dropped, and calls that have
 *    nothing left to do with them. A test that had succeeded and now fails is *forced*: it becomes
 *    a wait, since what the program would have done instead is not in the trace.
 *  - 3.2: in deterministic mode exactly the recorded requests are completed where they were.
 */
#include "replay/complete.h"

/* ---- one request ---- */

/* The status of a request that is complete. */
static void set_compared(struct replay_rank *k, const struct replay_fn *fn, int64_t number,
                         const MPI_Status *s)
{
    const struct trace_value *v = replay_arg(k, fn->status);
    struct trace_status status = replay_status_of(k, number, s);
    if (v)
        replay_compare_own(k, number, v->statuses, &status);
    replay_set_status(k, fn, status);
}

static int wait_one(struct replay_rank *k, const struct replay_fn *fn, int64_t number)
{
    struct trace_value *request = replay_arg(k, fn->request);
    struct replay_request *r = replay_request_find(k, number);
    MPI_Status status;
    if (!r) /* of a call that only takes time */
        return replay_spent(k);
    request->number = r->origin;
    MPI_Request handle = r->handle;
    replay_check(k, MPI_Wait(&handle, &status));
    r = replay_request_find(k, number); /* others may have moved it */
    r->handle = handle;
    set_compared(k, fn, number, &status);
    return 1;
}

static int wait(struct replay_rank *k, const struct replay_fn *fn)
{
    int64_t number = replay_arg(k, fn->request)->number;
    if (replay_request_is_drawn(k, number)) {
        replay_request_undraw(k, number);
        return replay_dropped(k);
    }
    int kept = wait_one(k, fn, number);
    replay_request_done(k, number);
    return kept;
}

static int test(struct replay_rank *k, const struct replay_fn *fn)
{
    struct trace_value *flag = replay_arg(k, fn->flag);
    int64_t number = replay_arg(k, fn->request)->number;
    struct replay_request *r = replay_request_find(k, number);
    int succeeded = flag->number != 0, deterministic = k->replay->options.deterministic, done = 0;
    MPI_Status status;
    if (replay_request_is_drawn(k, number)) {
        if (succeeded)
            replay_request_undraw(k, number);
        return replay_dropped(k);
    }
    if (!r || (deterministic && !succeeded))
        return replay_spent(k);
    if (!deterministic) {
        replay_arg(k, fn->request)->number = r->origin;
        MPI_Request handle = r->handle;
        replay_check(k, MPI_Test(&handle, &done, &status));
        replay_request_find(k, number)->handle = handle;
    }
    if (done)
        set_compared(k, fn, number, &status);
    if (!done && succeeded) {
        k->replay->counts.forced += !deterministic;
        wait_one(k, fn, number);
    }
    flag->number = done || succeeded;
    if (succeeded)
        replay_request_done(k, number);
    else if (done)
        replay_request_draw(k, number);
    return 1;
}

/* ---- all requests ---- */

static void set_statuses(struct replay_rank *k, const struct replay_fn *fn, struct replay_batch *b)
{
    struct trace_value *v = replay_arg(k, fn->status);
    struct trace_status *all = replay_scratch(k, (size_t)(b->all + 1) * sizeof *all);
    for (int i = 0; i < b->all; i++)
        all[i] = (struct trace_status){0};
    for (int i = 0; i < b->count; i++) {
        int at = b->at[i];
        all[at] = replay_status_of(k, b->numbers[at], &b->statuses[i]);
        if (v && (uint64_t)at < v->count)
            replay_compare_own(k, b->numbers[at], &v->statuses[at], &all[at]);
    }
    if (v) {
        v->statuses = all;
        v->count = (uint64_t)b->all;
    }
}

static int complete_all(struct replay_rank *k, const struct replay_fn *fn, int is_test)
{
    struct trace_value *requests = replay_arg(k, fn->request), *flag = replay_arg(k, fn->flag);
    int succeeded = !is_test || flag->number != 0, deterministic = k->replay->options.deterministic;
    struct replay_batch b = replay_batch_of(k, requests->items, requests->count);
    int done = 0, had_any = 0;
    for (int i = 0; i < b.all; i++)
        had_any |= replay_request_is_drawn(k, b.numbers[i]);
    if (b.count == 0) {
        if (succeeded)
            replay_undraw_all(k, b.numbers, requests->count);
        return had_any ? replay_dropped(k) : replay_spent(k);
    }
    if (deterministic && !succeeded)
        return replay_spent(k);
    requests->items = replay_origins(k, b.numbers, requests->count);
    if (is_test && !deterministic)
        replay_check(k, MPI_Testall(b.count, b.handles, &done, b.statuses));
    if (!done && succeeded) {
        k->replay->counts.forced += is_test && !deterministic;
        replay_check(k, MPI_Waitall(b.count, b.handles, b.statuses));
    }
    if (flag)
        flag->number = done || succeeded;
    if (!done && !succeeded)
        return 1;
    for (int i = 0; i < b.count; i++)
        replay_completed(&b, i);
    set_statuses(k, fn, &b);
    for (int i = 0; i < b.count; i++)
        if (succeeded)
            replay_request_done(k, b.numbers[b.at[i]]);
        else
            replay_request_draw(k, b.numbers[b.at[i]]);
    replay_undraw_all(k, b.numbers, succeeded ? requests->count : 0);
    return 1;
}

int replay_complete(struct replay_rank *k, const struct replay_fn *fn)
{
    switch (fn->how) {
    case REPLAY_WAIT:
        return wait(k, fn);
    case REPLAY_TEST:
        return test(k, fn);
    case REPLAY_WAITALL:
    case REPLAY_TESTALL:
        return complete_all(k, fn, fn->how == REPLAY_TESTALL);
    case REPLAY_WAITANY:
    case REPLAY_TESTANY:
        return replay_complete_any(k, fn, fn->how == REPLAY_TESTANY);
    case REPLAY_WAITSOME:
    case REPLAY_TESTSOME:
        return replay_complete_some(k, fn, fn->how == REPLAY_TESTSOME);
    case REPLAY_WIN_TEST:
        return replay_test_win(k);
    default:
        return replay_ask(k, fn);
    }
}
