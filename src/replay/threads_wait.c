/*
 * threads_wait.c - calls in which a thread of a rank waits while the others go on (threads.c):
 * blocking ones are made in their non-blocking forms, those that complete requests when these are
 * complete.
 */
#include <sched.h>
#include <string.h>

#include "base/array.h"
#include "base/mem.h"
#include "replay/threads.h"
#include "run/own.h"

/* Between two looks for a message: so many picoseconds, or 1 / PROBE_SHARE of the wait so far, if
 * that is more. */
#define PROBE_LEAST INT64_C(1000000)
#define PROBE_SHARE 64

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

void replay_thread_start(struct replay_rank *k, struct replay_thread *t)
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
            t->state = REPLAY_THREAD_WAITS;
            return;
        }
    }
    t->was_left = replay_recorded_leave(k, &t->item);
    replay_item(k, &t->item);
    replay_thread_fetch(k, t);
}

/* What the thread waits for is here. */
static void finish(struct replay_rank *k, struct replay_thread *t)
{
    const struct replay_fn *fn = &k->replay->fns[t->item.event->fn];
    int stays = 1;
    k->replay->counts.forced += t->is_forced && replay_now(k) > t->began;
    t->was_left = replay_recorded_leave(k, &t->item);
    if (t->form)
        finish_form(k, t, fn);
    else
        stays = replay_act(k, fn);
    replay_item_end(k, t->began, stays);
    replay_thread_fetch(k, t);
}

/* ---- waiting ---- */

/* Waits until one of the requests is complete, or until then. */
static void await(struct replay_rank *k, int count, const MPI_Request *handles, int64_t until,
                  unsigned char *done)
{
    int any = 0;
    if (replay_is_simulated()) {
        if (count)
            orrery_own_wait(count, handles, until == REPLAY_NEVER ? REPLAY_NEVER : until + k->epoch,
                            done);
        else
            replay_until(k, until);
        return;
    }
    if (k->watch && until == REPLAY_NEVER)
        replay_stuck_step(k);
    do {
        for (int i = 0; i < count; i++) {
            int flag = 0;
            PMPI_Request_get_status(handles[i], &flag, MPI_STATUS_IGNORE);
            any |= done[i] = flag != 0;
        }
        if (!any && k->replay->options.busy_sleep)
            sched_yield();
    } while (!any && replay_now(k) < until);
    if (k->watch && until == REPLAY_NEVER)
        replay_stuck_step(k);
}

/* Requests of the thread that are complete leave its list; 1: it can go on. */
static int is_satisfied(struct replay_rank *k, unsigned i, const unsigned char *done)
{
    struct replay_thread *t = replay_thread_enter(k, i);
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
        if (t->state != REPLAY_THREAD_WAITS || !t->is_probe)
            continue;
        int64_t now = replay_now(k), step = (now - t->began) / PROBE_SHARE;
        step = step > PROBE_LEAST ? step : PROBE_LEAST;
        until = until - now > step ? now + step : until;
    }
    return until;
}

int replay_threads_wait(struct replay_rank *k, int64_t until)
{
    size_t count = 0, at = 0;
    int has_gone_on = 0;
    for (unsigned i = 0; i < k->thread_count; i++)
        count += k->threads[i].state == REPLAY_THREAD_WAITS ? k->threads[i].count : 0;
    MPI_Request *handles = mem_alloc((count + 1) * sizeof *handles);
    unsigned char *done = mem_zalloc(count + 1);
    for (unsigned i = 0; i < k->thread_count; i++)
        if (k->threads[i].state == REPLAY_THREAD_WAITS && k->threads[i].count) {
            memcpy(handles + at, k->threads[i].handles, k->threads[i].count * sizeof *handles);
            at += k->threads[i].count;
        }
    int64_t now = replay_now(k);
    await(k, (int)count, handles, probe_limit(k, until > now ? until : now), done);
    at = 0;
    for (unsigned i = 0; i < k->thread_count; i++) {
        size_t own = k->threads[i].count;
        if (k->threads[i].state != REPLAY_THREAD_WAITS)
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
