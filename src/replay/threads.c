/*
 * threads.c - ranks with several threads.
 *
 * The replayer has one thread for all of them. It takes the record that is due first, and where
 * that would wait it goes on with the others: blocking calls are made in their non-blocking forms,
 * and calls that complete requests when these are complete. So all threads compute at the same
 * time, and calls are made one after the other, as in an MPI with one lock. Collectives must be
 * made in the same form by all ranks, so all ranks of such a trace are replayed here.
 *
 * Some calls have no non-blocking form, such as those of windows: the whole rank waits for them,
 * and they keep the order that they had among all threads. What threads wait for each other without
 * MPI is not in the trace, and counts as computing. A thread begins when the first one is where it
 * was in the recording then.
 */
#include <ctype.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/mem.h"
#include "replay/replay.h"
#include "run/own.h"

#define NEVER INT64_MAX
#define PROBE_LEAST INT64_C(1000000) /* picoseconds between two looks for a message ... */
#define PROBE_SHARE 64               /* ... or this share of the wait so far, if that is more */

enum state {
    UNBORN,
    COMPUTES, /* until its next record is due */
    WAITS,    /* in a call */
    ENDED,
};

struct replay_thread {
    struct replay_lane lane; /* unless the rank has it */
    struct whatif_rank changed;
    enum state state;
    struct whatif_item item;      /* the next record, or the call in which it waits */
    int64_t due;                  /* when the next record begins */
    int64_t began;                /* when the call began in which it waits */
    int64_t was_left;             /* when the record before the next one ended, in the recording */
    MPI_Request own;              /* of the non-blocking form of the call */
    const struct replay_fn *form; /* that; or NULL */
    MPI_Request *handles;         /* of requests that are not complete */
    size_t count, room;
    int needs_all; /* of them; or one */
    int is_probe;  /* it waits for a message */
    int is_forced; /* a test that had succeeded: if it waits, it is forced to */
};

/* ---- forms of functions ---- */

static const struct replay_fn *form_of(const struct replay *r, unsigned fn)
{
    char name[64];
    const struct replay_fn *f = &r->fns[fn];
    if (f->how != REPLAY_CALL || strncmp(f->name, "MPI_", 4) != 0 || f->name[4] == 'I')
        return NULL;
    snprintf(name, sizeof name, "MPI_I%c%s", tolower((unsigned char)f->name[4]), f->name + 5);
    int form = trace_schema_find(r->trace.header.schema, name);
    return form >= 0 && r->fns[form].invoke ? &r->fns[form] : NULL;
}

void replay_threads_init(struct replay *r)
{
    const struct trace_schema *schema = r->trace.header.schema;
    for (uint64_t rank = 0; rank < r->trace.header.ranks && !r->is_threaded; rank++)
        r->is_threaded = trace_threads(&r->trace, rank) > 1;
    if (!r->is_threaded)
        return;
    r->forms = mem_zalloc(schema->count * sizeof *r->forms);
    for (unsigned i = 0; i < schema->count; i++)
        r->forms[i] = form_of(r, i);
}

/* ---- threads ---- */

/* The rank goes on with this thread. */
static struct replay_thread *enter(struct replay_rank *k, unsigned i)
{
    if (k->current != i) {
        k->threads[k->current].lane = k->lane;
        k->lane = k->threads[i].lane;
        k->current = i;
    }
    return &k->threads[i];
}

static int64_t recorded_enter(const struct replay_rank *k, const struct whatif_item *item)
{
    const struct trace_event *e = item->event;
    return (e->head == TRACE_CALL ? e->enter : e->leave) * (int64_t)k->replay->trace.header.tick;
}

static int64_t recorded_leave(const struct replay_rank *k, const struct whatif_item *item)
{
    return item->event->leave * (int64_t)k->replay->trace.header.tick;
}

/* The next record of the thread that the rank is in. */
static void fetch(struct replay_rank *k, struct replay_thread *t)
{
    struct err err;
    int more = whatif_next(k->records, &t->item, &err);
    if (more < 0)
        replay_stop(err.text);
    t->state = more ? COMPUTES : ENDED;
    if (more)
        t->due = k->last + t->item.gap;
}

static void create(struct replay_rank *k)
{
    const struct replay *r = k->replay;
    k->thread_count = trace_threads(&r->trace, k->rank);
    k->threads = mem_zalloc(k->thread_count * sizeof *k->threads);
    fetch(k, &k->threads[0]);
    if (k->is_spawned) {
        k->threads[0].item.gap = 0;
        k->threads[0].due = k->last;
    }
    for (unsigned i = 1; i < k->thread_count; i++) {
        struct replay_thread *t = enter(k, i);
        t->changed = k->changed;
        t->changed.thread = i;
        k->records = whatif_open(&t->changed, r->whats.count);
        k->ahead = r->options.deterministic ? whatif_open(&t->changed, r->whats.count) : NULL;
        replay_output_thread(k, i);
        fetch(k, t);
        t->state = t->state == ENDED ? ENDED : UNBORN;
    }
    enter(k, 0);
}

static void destroy(struct replay_rank *k)
{
    for (unsigned i = 1; i < k->thread_count; i++) {
        enter(k, i);
        replay_output_end(k);
        whatif_close(k->records);
        whatif_close(k->ahead);
        whatif_got_fini(&k->got);
        replay_scratch_free(k);
    }
    enter(k, 0);
    for (unsigned i = 0; i < k->thread_count; i++)
        mem_free(k->threads[i].handles);
    mem_free(k->threads);
    k->threads = NULL;
}

void replay_threads_spill(struct replay_rank *k)
{
    for (unsigned i = 0; k->threads && i < k->thread_count; i++)
        if (i != k->current)
            trace_stream_spill(&k->threads[i].lane.out);
}

/* A thread whose first record is at `at` in the recording: is the first thread there? */
static void bear(struct replay_rank *k, unsigned i)
{
    struct replay_thread *t = &k->threads[i], *first = &k->threads[0];
    int64_t at = recorded_enter(k, &t->item),
            last = enter(k, 0)->state == ENDED ? replay_now(k) : k->last;
    int64_t gap = 0;
    if (first->state == COMPUTES) {
        if (recorded_enter(k, &first->item) <= at)
            return;
        gap = at - first->was_left;
    } else if (first->state == WAITS) {
        if (recorded_leave(k, &first->item) <= at)
            return;
        last = first->began;
        gap = at - recorded_enter(k, &first->item);
    }
    enter(k, i);
    t->item.gap = gap > 0 ? gap : 0;
    k->last = last;
    t->due = last + t->item.gap;
    t->state = COMPUTES;
}

/* ---- calls that wait ---- */

static void add_handle(struct replay_rank *k, struct replay_thread *t, int64_t number)
{
    const struct replay_request *r = replay_request_find(k, number);
    if (!r || r->handle == MPI_REQUEST_NULL)
        return;
    ARRAY_RESERVE(t->handles, t->room, t->count + 1, 4);
    t->handles[t->count++] = r->handle;
}

/* The requests that a call was given, or in deterministic mode those that it had completed. */
static void add_requests(struct replay_rank *k, struct replay_thread *t, const struct replay_fn *fn)
{
    const struct trace_value *v = replay_arg(k, fn->request), *index = replay_arg(k, fn->index);
    int is_one = fn->how == REPLAY_WAIT || fn->how == REPLAY_TEST;
    int is_some = fn->how == REPLAY_WAITSOME || fn->how == REPLAY_TESTSOME;
    int keeps = k->replay->options.deterministic && index;
    if (is_one)
        add_handle(k, t, v->number);
    for (uint64_t i = 0; !is_one && !keeps && i < v->count; i++)
        add_handle(k, t, v->items[i]);
    for (uint64_t i = 0; keeps && is_some && i < index->count; i++)
        add_handle(k, t, v->items[index->items[i]]);
    if (keeps && !is_some && index->number >= 0 && (uint64_t)index->number < v->count)
        add_handle(k, t, v->items[index->number]);
}

/* 1: the thread waits now for what the call of its event completes. */
static int wait_for_requests(struct replay_rank *k, struct replay_thread *t,
                             const struct replay_fn *fn)
{
    const struct trace_value *flag = replay_arg(k, fn->flag), *out = replay_arg(k, fn->outcount);
    t->is_forced = fn->how == REPLAY_TEST || fn->how == REPLAY_TESTALL ||
                   fn->how == REPLAY_TESTANY || fn->how == REPLAY_TESTSOME;
    if (t->is_forced && ((flag && !flag->number) || (out && out->number <= 0)))
        return 0; /* it had found nothing */
    t->needs_all = fn->how == REPLAY_WAIT || fn->how == REPLAY_WAITALL || fn->how == REPLAY_TEST ||
                   fn->how == REPLAY_TESTALL;
    add_requests(k, t, fn);
    return t->count > 0;
}

/* The non-blocking form of the call. */
static int start_form(struct replay_rank *k, struct replay_thread *t, const struct replay_fn *fn)
{
    uint64_t words[REPLAY_ARGS] = {0};
    replay_words(k, fn);
    for (unsigned i = 0; i < t->form->signature->count; i++) {
        const struct mpi_arg *arg = &t->form->signature->args[i];
        if (arg->role == MPI_ROLE_REQUEST)
            words[i] = (uint64_t)(uintptr_t)&t->own;
        for (unsigned j = 0; j < fn->signature->count; j++)
            if (strcmp(fn->signature->args[j].name, arg->name) == 0)
                words[i] = k->words[j];
    }
    replay_check(k, t->form->invoke(words));
    ARRAY_RESERVE(t->handles, t->room, 1, 4);
    t->handles[0] = t->own;
    t->count = 1;
    t->needs_all = 1;
    return 1;
}

static void finish_form(struct replay_rank *k, struct replay_thread *t, const struct replay_fn *fn)
{
    MPI_Status status;
    replay_check(k, PMPI_Wait(&t->own, &status));
    for (unsigned i = 0; i < fn->signature->count; i++)
        if (fn->signature->args[i].role == MPI_ROLE_STATUS)
            *(MPI_Status *)(uintptr_t)k->words[i] = status;
    replay_results(k, fn);
}

static int may_wait(const struct replay_rank *k, const struct whatif_item *item)
{
    return item->event->head == TRACE_CALL && !item->is_dropped && k->is_begun &&
           trace_event_is_done(item->event);
}

/* The record of the thread that the rank is in is due: makes its call, or begins to wait in it. */
static void start(struct replay_rank *k, struct replay_thread *t)
{
    const struct replay_fn *fn = &k->replay->fns[t->item.event->fn];
    t->count = 0;
    t->is_probe = t->is_forced = 0;
    t->form = NULL;
    if (may_wait(k, &t->item)) {
        int waits = 0;
        replay_item_begin(k, &t->item);
        t->item.gap = 0;
        t->began = k->last = replay_now(k);
        if (fn->how >= REPLAY_WAIT && fn->how <= REPLAY_TESTSOME)
            waits = wait_for_requests(k, t, fn);
        else if (fn->how == REPLAY_PROBE)
            waits = t->is_probe = 1;
        else if (fn->how == REPLAY_CALL && (t->form = k->replay->forms[t->item.event->fn])) {
            replay_count(k);
            waits = start_form(k, t, fn);
        }
        if (waits) {
            t->state = WAITS;
            return;
        }
    }
    t->was_left = recorded_leave(k, &t->item);
    replay_item(k, &t->item);
    fetch(k, t);
}

/* What the thread waits for is here. */
static void finish(struct replay_rank *k, struct replay_thread *t)
{
    const struct replay_fn *fn = &k->replay->fns[t->item.event->fn];
    int stays = 1;
    k->replay->counts.forced += t->is_forced && replay_now(k) > t->began;
    t->was_left = recorded_leave(k, &t->item);
    if (t->form)
        finish_form(k, t, fn);
    else
        stays = replay_act(k, fn);
    replay_item_end(k, t->began, stays);
    fetch(k, t);
}

/* ---- waiting ---- */

/* Waits until one of the requests is complete, or until then. */
static void await(struct replay_rank *k, int count, const MPI_Request *handles, int64_t until,
                  unsigned char *done)
{
    int any = 0;
    if (replay_is_simulated()) {
        if (count)
            orrery_own_wait(count, handles, until == NEVER ? NEVER : until + k->epoch, done);
        else
            replay_until(k, until);
        return;
    }
    do {
        for (int i = 0; i < count; i++) {
            int flag = 0;
            PMPI_Request_get_status(handles[i], &flag, MPI_STATUS_IGNORE);
            any |= done[i] = flag != 0;
        }
        if (!any && k->replay->options.busy_sleep)
            sched_yield();
    } while (!any && replay_now(k) < until);
}

/* Requests of the thread that are complete leave its list; 1: it can go on. */
static int is_satisfied(struct replay_rank *k, unsigned i, const unsigned char *done)
{
    struct replay_thread *t = enter(k, i);
    size_t left = 0, all = t->count;
    if (t->is_probe)
        return replay_probe_is_here(k, &k->replay->fns[t->item.event->fn]);
    for (size_t j = 0; j < all; j++)
        if (!done[j])
            t->handles[left++] = t->handles[j];
    if (t->needs_all)
        t->count = left;
    return t->needs_all ? left == 0 : left < all;
}

/* How long to wait at most before the next look for messages that threads probe for. */
static int64_t probe_limit(const struct replay_rank *k, int64_t until)
{
    for (unsigned i = 0; i < k->thread_count; i++) {
        const struct replay_thread *t = &k->threads[i];
        if (t->state != WAITS || !t->is_probe)
            continue;
        int64_t now = replay_now(k), step = (now - t->began) / PROBE_SHARE;
        step = step > PROBE_LEAST ? step : PROBE_LEAST;
        until = until - now > step ? now + step : until;
    }
    return until;
}

/* Waits until then at most; 1: a thread that waited has gone on. */
static int wait_until(struct replay_rank *k, int64_t until)
{
    size_t count = 0, at = 0;
    int has_gone_on = 0;
    for (unsigned i = 0; i < k->thread_count; i++)
        count += k->threads[i].state == WAITS ? k->threads[i].count : 0;
    MPI_Request *handles = mem_alloc((count + 1) * sizeof *handles);
    unsigned char *done = mem_zalloc(count + 1);
    for (unsigned i = 0; i < k->thread_count; i++)
        if (k->threads[i].state == WAITS && k->threads[i].count) {
            memcpy(handles + at, k->threads[i].handles, k->threads[i].count * sizeof *handles);
            at += k->threads[i].count;
        }
    int64_t now = replay_now(k);
    await(k, (int)count, handles, probe_limit(k, until > now ? until : now), done);
    at = 0;
    for (unsigned i = 0; i < k->thread_count; i++) {
        size_t own = k->threads[i].count;
        if (k->threads[i].state != WAITS)
            continue;
        if (is_satisfied(k, i, done + at)) {
            finish(k, &k->threads[i]);
            has_gone_on = 1;
        }
        at += own;
    }
    mem_free(handles);
    mem_free(done);
    return has_gone_on;
}

/* ---- all of them ---- */

/* Whether calls that another thread makes may decide what the call does: it is about a window, or
 * makes, changes or frees an object. */
static int is_ordered(const struct replay_rank *k, const struct replay_fn *fn, unsigned number)
{
    switch ((enum replay_how)fn->how) {
    case REPLAY_CALL:
        return !k->replay->forms[number] && (!fn->begins || fn->win >= 0);
    case REPLAY_CANCEL:
    case REPLAY_SPLIT_TYPE:
    case REPLAY_WIN_DYNAMIC:
    case REPLAY_WIN_TEST:
    case REPLAY_GET_STATUS:
    case REPLAY_PARRIVED:
    case REPLAY_DYNAMIC:
        return 1;
    default:
        return 0;
    }
}

static int is_missing(struct replay_rank *k, int64_t number)
{
    return number >= 0 && !replay_request_find(k, number) && !replay_request_is_drawn(k, number);
}

/* The call completes a request that another thread starts, but has not yet. */
static int lacks_request(struct replay_rank *k, const struct replay_fn *fn,
                         const struct trace_event *e)
{
    if (fn->how < REPLAY_WAIT || fn->how > REPLAY_TESTSOME || (unsigned)fn->request >= e->argc)
        return 0;
    const struct trace_value *v = &e->args[fn->request];
    if (fn->how == REPLAY_WAIT || fn->how == REPLAY_TEST)
        return is_missing(k, v->number);
    for (uint64_t i = 0; i < v->count; i++)
        if (is_missing(k, v->items[i]))
            return 1;
    return 0;
}

/* Whether a thread has not made a call yet that had ended before this time in the recording. */
static int is_behind(const struct replay_rank *k, unsigned i, int64_t at)
{
    const struct replay_thread *t = &k->threads[i];
    return t->state != ENDED && recorded_leave(k, &t->item) <= at &&
           (t->item.event->head == TRACE_CALL || recorded_leave(k, &t->item) < at);
}

/* Not yet: MPI_Finalize is the last call of a rank, whichever thread makes it, and some calls keep
 * the order of the recording. */
static int is_held(struct replay_rank *k, unsigned i)
{
    const struct replay_thread *t = &k->threads[i];
    const struct trace_event *e = t->item.event;
    const struct replay_fn *fn = &k->replay->fns[e->fn];
    if (!k->is_begun)
        return i != 0;
    if (e->head != TRACE_CALL)
        return 0;
    int is_late = fn->is_finalize;
    if (!is_late && !is_ordered(k, fn, e->fn) && !lacks_request(k, fn, e))
        return 0;
    int64_t at = recorded_enter(k, &t->item);
    for (unsigned j = 0; j < k->thread_count; j++) {
        if (j == i || k->threads[j].state == ENDED)
            continue;
        /* of two that were at the same time and took none, the first thread's comes first */
        int is_tie = recorded_leave(k, &t->item) <= recorded_enter(k, &k->threads[j].item);
        if (is_late || (is_behind(k, j, at) && (!is_tie || j < i)))
            return 1;
    }
    return 0;
}

static int is_before(const struct replay_rank *k, const struct replay_thread *a,
                     const struct replay_thread *b)
{
    return a->due != b->due ? a->due < b->due
                            : recorded_enter(k, &a->item) < recorded_enter(k, &b->item);
}

/* The thread whose record is due first, or -1. Of those due together, the one that was first. */
static int find_next(struct replay_rank *k)
{
    int next = -1;
    for (unsigned i = 0; i < k->thread_count; i++)
        if (k->threads[i].state == COMPUTES && !is_held(k, i) &&
            (next < 0 || is_before(k, &k->threads[i], &k->threads[next])))
            next = (int)i;
    return next;
}

static int has_state(const struct replay_rank *k, enum state state)
{
    for (unsigned i = 0; i < k->thread_count; i++)
        if (k->threads[i].state == state)
            return 1;
    return 0;
}

void replay_threads(struct replay_rank *k)
{
    for (create(k);;) {
        for (unsigned i = 1; i < k->thread_count; i++)
            if (k->threads[i].state == UNBORN)
                bear(k, i);
        int next = find_next(k), waits = has_state(k, WAITS);
        if (next < 0 && !waits)
            break;
        if (waits && wait_until(k, next < 0 ? NEVER : k->threads[next].due))
            continue;
        if (next >= 0 && (!waits || replay_now(k) >= k->threads[next].due))
            start(k, enter(k, (unsigned)next));
    }
    destroy(k);
}
