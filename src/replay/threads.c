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
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "replay/threads.h"

/* ---- forms of functions ---- */

static const struct replay_fn *form_of(const struct replay *r, unsigned fn)
{
    if (r->fns[fn].how != REPLAY_CALL || r->shapes[fn].form != MPI_FORM_BLOCKING)
        return NULL;
    int form = calls_find_form(r->trace.header.schema, r->shapes, fn, MPI_FORM_NONBLOCKING);
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

struct replay_thread *replay_thread_enter(struct replay_rank *k, unsigned i)
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

int64_t replay_recorded_leave(const struct replay_rank *k, const struct whatif_item *item)
{
    return item->event->leave * (int64_t)k->replay->trace.header.tick;
}

void replay_thread_fetch(struct replay_rank *k, struct replay_thread *t)
{
    struct err err;
    int more = whatif_next(k->records, &t->item, &err);
    if (more < 0)
        replay_stop(err.text);
    t->state = more ? REPLAY_THREAD_COMPUTES : REPLAY_THREAD_ENDED;
    if (more)
        t->due = k->last + t->item.gap;
}

static void create(struct replay_rank *k)
{
    const struct replay *r = k->replay;
    k->thread_count = trace_threads(&r->trace, k->rank);
    k->threads = mem_zalloc(k->thread_count * sizeof *k->threads);
    replay_thread_fetch(k, &k->threads[0]);
    if (k->is_spawned) {
        k->threads[0].item.gap = 0;
        k->threads[0].due = k->last;
    }
    for (unsigned i = 1; i < k->thread_count; i++) {
        struct replay_thread *t = replay_thread_enter(k, i);
        t->changed = k->changed;
        t->changed.thread = i;
        k->records = whatif_open(&t->changed, r->whats.count);
        k->ahead = r->options.deterministic ? whatif_open(&t->changed, r->whats.count) : NULL;
        k->got.keeps_all = 1;
        replay_output_thread(k, i);
        replay_thread_fetch(k, t);
        t->state = t->state == REPLAY_THREAD_ENDED ? REPLAY_THREAD_ENDED : REPLAY_THREAD_UNBORN;
    }
    replay_thread_enter(k, 0);
}

static void destroy(struct replay_rank *k)
{
    for (unsigned i = 1; i < k->thread_count; i++) {
        replay_thread_enter(k, i);
        replay_output_end(k);
        whatif_close(k->records);
        whatif_close(k->ahead);
        whatif_got_fini(&k->got);
        replay_scratch_free(k);
    }
    replay_thread_enter(k, 0);
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
            last = replay_thread_enter(k, 0)->state == REPLAY_THREAD_ENDED ? replay_now(k)
                                                                           : k->last;
    int64_t gap = 0;
    if (first->state == REPLAY_THREAD_COMPUTES) {
        if (recorded_enter(k, &first->item) <= at)
            return;
        gap = at - first->was_left;
    } else if (first->state == REPLAY_THREAD_WAITS) {
        if (replay_recorded_leave(k, &first->item) <= at)
            return;
        last = first->began;
        gap = at - recorded_enter(k, &first->item);
    }
    replay_thread_enter(k, i);
    t->item.gap = gap > 0 ? gap : 0;
    k->last = last;
    t->due = last + t->item.gap;
    t->state = REPLAY_THREAD_COMPUTES;
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
    return t->state != REPLAY_THREAD_ENDED && replay_recorded_leave(k, &t->item) <= at &&
           (t->item.event->head == TRACE_CALL || replay_recorded_leave(k, &t->item) < at);
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
        if (j == i || k->threads[j].state == REPLAY_THREAD_ENDED)
            continue;
        /* of two that were at the same time and took none, the first thread's comes first */
        int is_tie = replay_recorded_leave(k, &t->item) <= recorded_enter(k, &k->threads[j].item);
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
        if (k->threads[i].state == REPLAY_THREAD_COMPUTES && !is_held(k, i) &&
            (next < 0 || is_before(k, &k->threads[i], &k->threads[next])))
            next = (int)i;
    return next;
}

static int has_state(const struct replay_rank *k, enum replay_thread_state state)
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
            if (k->threads[i].state == REPLAY_THREAD_UNBORN)
                bear(k, i);
        int next = find_next(k), waits = has_state(k, REPLAY_THREAD_WAITS);
        if (next < 0 && !waits)
            break;
        if (waits && replay_threads_wait(k, next < 0 ? REPLAY_NEVER : k->threads[next].due))
            continue;
        if (next >= 0 && (!waits || replay_now(k) >= k->threads[next].due))
            replay_thread_start(k, replay_thread_enter(k, (unsigned)next));
    }
    destroy(k);
}
