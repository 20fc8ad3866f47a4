/*
 * complete.c - the completion of requests, in all its forms (Böhme et al., section 3.1).
 *
 *  - A call that completes some of its requests gets all that the original was given, and may
 *    complete others. What it completes in place of a recorded request is *remapped*: from then on
 *    each of the two numbers means the other request.
 *  - A test that had failed may succeed: the completion is *drawn forward* to it. Later records of
 *    that request are dropped, and calls that have nothing left to do with them.
 *  - A test that had succeeded and now fails is *forced*: it becomes a wait, since what the program
 *    would have done instead is not in the trace.
 *  - In deterministic mode exactly the recorded requests are completed where they were.
 */
#include "replay/replay.h"

/* The requests of a call: those that are still to be completed, and where they are in its array. */
struct batch {
    struct replay_rank *k;
    const int64_t *numbers; /* of all */
    int *at;                /* positions of those that are left */
    MPI_Request *handles;
    MPI_Status *statuses; /* by position in the array of the call */
    int count;            /* of those that are left */
    int all;              /* of the call */
};

static struct batch batch_of(struct replay_rank *k, const int64_t *numbers, uint64_t all)
{
    struct batch b = {.k = k, .numbers = numbers, .all = (int)all};
    b.at = replay_scratch(k, (all + 1) * sizeof *b.at);
    b.handles = replay_scratch(k, (all + 1) * sizeof *b.handles);
    b.statuses = replay_scratch(k, (all + 1) * sizeof *b.statuses);
    for (int i = 0; i < b.all; i++) {
        const struct replay_request *r = replay_request_find(k, numbers[i]);
        if (!r)
            continue;
        b.at[b.count] = i;
        b.handles[b.count++] = r->handle;
    }
    return b;
}

/* The numbers that the requests were started with: what the new trace shows. */
static const int64_t *origins(struct replay_rank *k, const int64_t *numbers, uint64_t count)
{
    int64_t *out = replay_scratch(k, (count + 1) * sizeof *out);
    for (uint64_t i = 0; i < count; i++) {
        const struct replay_request *r = replay_request_find(k, numbers[i]);
        out[i] = r ? r->origin : replay_request_is_drawn(k, numbers[i]) ? -1 : numbers[i];
    }
    return out;
}

/* The status of a request that a call has completed, before the request is forgotten. */
static struct trace_status status_of(struct replay_rank *k, int64_t number, const MPI_Status *s)
{
    const struct replay_request *r = replay_request_find(k, number);
    struct trace_status status = {0};
    if (r && r->receives)
        status = replay_status(k, r->comm, s);
    if (status.source < 0 && !status.is_cancelled)
        status = (struct trace_status){0}; /* of MPI_PROC_NULL */
    return status;
}

/* Request i of the batch is complete; its handle may have become null. */
static void completed(struct batch *b, int i)
{
    struct replay_request *r = replay_request_find(b->k, b->numbers[b->at[i]]);
    r->handle = b->handles[i];
}

/* All that is marked as drawn forward has its record here. */
static void undraw_all(struct replay_rank *k, const int64_t *numbers, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++)
        if (replay_request_is_drawn(k, numbers[i]))
            replay_request_undraw(k, numbers[i]);
}

static int dropped(struct replay_rank *k)
{
    k->replay->counts.removed++;
    return 0;
}

/* What a call that failed to find anything spends in deterministic mode, where it is not made. */
static int spent(struct replay_rank *k)
{
    replay_until(k, replay_now(k) + k->duration);
    return 1;
}

/* ---- one request ---- */

static void set_status(struct replay_rank *k, const struct replay_fn *fn,
                       struct trace_status status)
{
    struct trace_status *at = replay_scratch(k, sizeof *at);
    struct trace_value *v = replay_arg(k, fn->status);
    *at = status;
    if (v)
        v->statuses = at;
}

static int wait_one(struct replay_rank *k, const struct replay_fn *fn, int64_t number)
{
    struct trace_value *request = replay_arg(k, fn->request);
    struct replay_request *r = replay_request_find(k, number);
    MPI_Status status;
    if (!r) /* of a call that only takes time */
        return spent(k);
    request->number = r->origin;
    MPI_Request handle = r->handle;
    replay_check(k, MPI_Wait(&handle, &status));
    r = replay_request_find(k, number); /* others may have moved it */
    r->handle = handle;
    set_status(k, fn, status_of(k, number, &status));
    return 1;
}

static int wait(struct replay_rank *k, const struct replay_fn *fn)
{
    int64_t number = replay_arg(k, fn->request)->number;
    if (replay_request_is_drawn(k, number)) {
        replay_request_undraw(k, number);
        return dropped(k);
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
        return dropped(k);
    }
    if (!r || (deterministic && !succeeded))
        return spent(k);
    if (!deterministic) {
        replay_arg(k, fn->request)->number = r->origin;
        MPI_Request handle = r->handle;
        replay_check(k, MPI_Test(&handle, &done, &status));
        replay_request_find(k, number)->handle = handle;
    }
    if (done)
        set_status(k, fn, status_of(k, number, &status));
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

static void set_statuses(struct replay_rank *k, const struct replay_fn *fn, struct batch *b)
{
    struct trace_value *v = replay_arg(k, fn->status);
    struct trace_status *all = replay_scratch(k, (size_t)(b->all + 1) * sizeof *all);
    for (int i = 0; i < b->all; i++)
        all[i] = (struct trace_status){0};
    for (int i = 0; i < b->count; i++)
        all[b->at[i]] = status_of(k, b->numbers[b->at[i]], &b->statuses[i]);
    if (v) {
        v->statuses = all;
        v->count = (uint64_t)b->all;
    }
}

static int complete_all(struct replay_rank *k, const struct replay_fn *fn, int is_test)
{
    struct trace_value *requests = replay_arg(k, fn->request), *flag = replay_arg(k, fn->flag);
    int succeeded = !is_test || flag->number != 0, deterministic = k->replay->options.deterministic;
    struct batch b = batch_of(k, requests->items, requests->count);
    int done = 0, had_any = 0;
    for (int i = 0; i < b.all; i++)
        had_any |= replay_request_is_drawn(k, b.numbers[i]);
    if (b.count == 0) {
        if (succeeded)
            undraw_all(k, b.numbers, requests->count);
        return had_any ? dropped(k) : spent(k);
    }
    if (deterministic && !succeeded)
        return spent(k);
    requests->items = origins(k, b.numbers, requests->count);
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
        completed(&b, i);
    set_statuses(k, fn, &b);
    for (int i = 0; i < b.count; i++)
        if (succeeded)
            replay_request_done(k, b.numbers[b.at[i]]);
        else
            replay_request_draw(k, b.numbers[b.at[i]]);
    undraw_all(k, b.numbers, succeeded ? requests->count : 0);
    return 1;
}

/* ---- some requests ---- */

/* The record of a call that was given nothing to complete. */
static int is_undefined(const struct trace_value *v)
{
    return !v || v->number < 0; /* MPI_UNDEFINED is negative, too */
}

/* One that completed in place of the recorded one: the numbers change places. */
static void remap(struct replay_rank *k, int64_t recorded, int64_t actual)
{
    if (recorded != actual)
        replay_request_swap(k, recorded, actual);
}

static int complete_any(struct replay_rank *k, const struct replay_fn *fn, int is_test)
{
    struct trace_value *requests = replay_arg(k, fn->request), *flag = replay_arg(k, fn->flag);
    struct trace_value *index = replay_arg(k, fn->index);
    int succeeded = !is_test || flag->number != 0, deterministic = k->replay->options.deterministic;
    if (succeeded && is_undefined(index))
        return spent(k);
    int64_t recorded = succeeded ? requests->items[index->number] : -1;
    if (succeeded && replay_request_is_drawn(k, recorded)) {
        replay_request_undraw(k, recorded);
        return dropped(k);
    }
    struct batch b = batch_of(k, requests->items, requests->count);
    int done = 0, which = MPI_UNDEFINED;
    if (b.count == 0)
        return succeeded || b.all == 0 ? spent(k) : dropped(k);
    if (deterministic && !succeeded)
        return spent(k);
    requests->items = origins(k, b.numbers, requests->count);
    if (deterministic) {
        for (which = 0; which < b.count - 1 && b.numbers[b.at[which]] != recorded;)
            which++;
        replay_check(k, MPI_Wait(&b.handles[which], &b.statuses[0]));
        done = 1;
    } else if (is_test) {
        replay_check(k, MPI_Testany(b.count, b.handles, &which, &done, &b.statuses[0]));
    }
    if ((!done || which == MPI_UNDEFINED) && succeeded) {
        k->replay->counts.forced += (uint64_t)is_test;
        replay_check(k, MPI_Waitany(b.count, b.handles, &which, &b.statuses[0]));
    }
    done = which != MPI_UNDEFINED && (done || succeeded);
    if (flag)
        flag->number = done;
    if (!done)
        return 1;
    int64_t actual = b.numbers[b.at[which]];
    index->number = b.at[which];
    completed(&b, which);
    set_status(k, fn, status_of(k, actual, &b.statuses[0]));
    if (!succeeded) {
        replay_request_draw(k, actual);
        return 1;
    }
    remap(k, recorded, actual);
    replay_request_done(k, recorded);
    return 1;
}

/* What MPI_Waitsome or MPI_Testsome has completed, over several calls of it. */
struct some {
    int *which; /* positions in the array of the call, in order of completion */
    MPI_Status *statuses;
    int count;
};

/* One call; what it completed leaves the batch. */
static int some_step(struct replay_rank *k, struct batch *b, struct some *s, int is_test)
{
    int *indices = replay_scratch(k, (size_t)(b->count + 1) * sizeof *indices), got = 0;
    if (is_test)
        replay_check(k, MPI_Testsome(b->count, b->handles, &got, indices, b->statuses));
    else
        replay_check(k, MPI_Waitsome(b->count, b->handles, &got, indices, b->statuses));
    if (got == MPI_UNDEFINED)
        return -1;
    for (int i = 0; i < got; i++) {
        completed(b, indices[i]);
        s->which[s->count] = b->at[indices[i]];
        s->statuses[s->count++] = b->statuses[i];
        b->at[indices[i]] = -1;
    }
    int left = 0;
    for (int i = 0; i < b->count; i++)
        if (b->at[i] >= 0) {
            b->at[left] = b->at[i];
            b->handles[left++] = b->handles[i];
        }
    b->count = left;
    return got;
}

static int in_list(const int64_t *list, int count, int64_t number)
{
    for (int i = 0; i < count; i++)
        if (list[i] == number)
            return i;
    return -1;
}

/* Pairs what completed with what had: the same ones, then others, which are remapped; what is more
 * than had is drawn forward. */
static void settle_some(struct replay_rank *k, const int64_t *numbers, const struct some *s,
                        int64_t *recorded, int wanted)
{
    int64_t *extra = replay_scratch(k, (size_t)(s->count + 1) * sizeof *extra);
    int extras = 0;
    for (int i = 0; i < s->count; i++) {
        int64_t number = numbers[s->which[i]];
        int at = in_list(recorded, wanted, number);
        if (at < 0) {
            extra[extras++] = number;
            continue;
        }
        replay_request_done(k, number);
        recorded[at] = recorded[--wanted];
    }
    for (int i = 0; i < extras; i++) {
        if (wanted == 0) {
            replay_request_draw(k, extra[i]);
            continue;
        }
        remap(k, recorded[--wanted], extra[i]);
        replay_request_done(k, recorded[wanted]);
    }
}

static void set_some(struct replay_rank *k, const struct replay_fn *fn, const int64_t *numbers,
                     const struct some *s)
{
    struct trace_value *outcount = replay_arg(k, fn->outcount), *index = replay_arg(k, fn->index);
    struct trace_value *v = replay_arg(k, fn->status);
    int64_t *indices = replay_scratch(k, (size_t)(s->count + 1) * sizeof *indices);
    struct trace_status *statuses = replay_scratch(k, (size_t)(s->count + 1) * sizeof *statuses);
    for (int i = 0; i < s->count; i++) {
        indices[i] = s->which[i];
        statuses[i] = status_of(k, numbers[s->which[i]], &s->statuses[i]);
    }
    outcount->number = s->count;
    index->items = indices;
    index->count = (uint64_t)s->count;
    if (v) {
        v->statuses = statuses;
        v->count = (uint64_t)s->count;
    }
}

/* The recorded requests that are not drawn forward yet; those that are have their record here. */
static int wanted_of(struct replay_rank *k, const struct trace_value *requests,
                     const struct trace_value *index, int64_t *recorded)
{
    int wanted = 0;
    for (uint64_t i = 0; i < index->count; i++) {
        int64_t at = index->items[i];
        if (at < 0 || (uint64_t)at >= requests->count)
            continue;
        if (replay_request_is_drawn(k, requests->items[at]))
            replay_request_undraw(k, requests->items[at]);
        else if (replay_request_find(k, requests->items[at]))
            recorded[wanted++] = requests->items[at];
    }
    return wanted;
}

static int complete_some(struct replay_rank *k, const struct replay_fn *fn, int is_test)
{
    struct trace_value *requests = replay_arg(k, fn->request), *index = replay_arg(k, fn->index);
    const struct trace_value *outcount = replay_arg(k, fn->outcount);
    if (outcount->number == MPI_UNDEFINED)
        return spent(k);
    int had = (int)outcount->number, deterministic = k->replay->options.deterministic;
    int64_t *recorded = replay_scratch(k, ((size_t)index->count + 1) * sizeof *recorded);
    int wanted = wanted_of(k, requests, index, recorded);
    if (had && wanted == 0)
        return dropped(k);
    if (!had && deterministic)
        return spent(k);
    struct batch b = deterministic ? batch_of(k, recorded, (uint64_t)wanted)
                                   : batch_of(k, requests->items, requests->count);
    if (b.count == 0)
        return dropped(k);
    const int64_t *numbers = requests->items;
    struct some s = {.which = replay_scratch(k, (size_t)(b.all + 1) * sizeof *s.which),
                     .statuses = replay_scratch(k, (size_t)(b.all + 1) * sizeof *s.statuses)};
    if (deterministic) {
        replay_check(k, MPI_Waitall(b.count, b.handles, b.statuses));
        for (int i = 0; i < b.count; i++) {
            completed(&b, i);
            replay_request_done(k, recorded[b.at[i]]);
        }
        return 1; /* as recorded */
    }
    requests->items = origins(k, numbers, requests->count);
    if (some_step(k, &b, &s, is_test) < 0)
        return 1;
    while (s.count < wanted && b.count) {
        k->replay->counts.forced++;
        some_step(k, &b, &s, 0);
    }
    set_some(k, fn, numbers, &s);
    settle_some(k, numbers, &s, recorded, wanted);
    return 1;
}

/* ---- questions ---- */

/* A partition, or a request, that was there and now is not: asks until it is. */
static int ask(struct replay_rank *k, const struct replay_fn *fn)
{
    struct trace_value *flag = replay_arg(k, fn->flag);
    int64_t number = replay_arg(k, fn->request)->number;
    struct replay_request *r = replay_request_find(k, number);
    int succeeded = flag->number != 0, done = 0;
    MPI_Status status;
    if (!r)
        return replay_request_is_drawn(k, number) ? dropped(k) : spent(k);
    replay_arg(k, fn->request)->number = r->origin;
    MPI_Request handle = r->handle;
    do {
        if (fn->how == REPLAY_PARRIVED)
            replay_check(k, MPI_Parrived(handle, (int)replay_arg(k, fn->index)->number, &done));
        else
            replay_check(k, MPI_Request_get_status(handle, &done, &status));
    } while (!done && succeeded && ++k->replay->counts.forced);
    flag->number = done;
    if (done && fn->how == REPLAY_GET_STATUS &&
        !(succeeded && !replay_arg(k, fn->status)->statuses->is_set))
        set_status(k, fn, status_of(k, number, &status));
    return 1;
}

/* MPI_Win_test ends the epoch when it succeeds; MPI_Win_wait, or the test that had, is then left
 * out. */
static int test_win(struct replay_rank *k)
{
    struct trace_value *win = NULL, *flag = NULL;
    const struct trace_fn *fn = &k->replay->trace.header.schema->fns[k->event->fn];
    for (unsigned i = 0; i < k->event->argc; i++) {
        if (fn->args[i].role[0] == 'w')
            win = &k->event->args[i];
        if (fn->args[i].role[0] == 'f')
            flag = &k->event->args[i];
    }
    if (!win || !flag)
        return spent(k);
    int succeeded = flag->number != 0, done = 0;
    MPI_Win handle = (MPI_Win)replay_handle(k, MPI_ROLE_WIN, win->number);
    if (map_find(&k->drawn_wins, (uint64_t)win->number)) {
        if (succeeded)
            map_remove(&k->drawn_wins, (uint64_t)win->number);
        return dropped(k);
    }
    if (k->replay->options.deterministic && !succeeded)
        return spent(k);
    replay_check(k, MPI_Win_test(handle, &done));
    if (!done && succeeded) {
        k->replay->counts.forced++;
        replay_check(k, MPI_Win_wait(handle));
    } else if (done && !succeeded) {
        k->replay->counts.drawn++;
        map_insert(&k->drawn_wins, (uint64_t)win->number, NULL);
    }
    flag->number = done || succeeded;
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
        return complete_any(k, fn, fn->how == REPLAY_TESTANY);
    case REPLAY_WAITSOME:
    case REPLAY_TESTSOME:
        return complete_some(k, fn, fn->how == REPLAY_TESTSOME);
    case REPLAY_WIN_TEST:
        return test_win(k);
    default:
        return ask(k, fn);
    }
}
