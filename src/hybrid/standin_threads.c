/*
 * standin_threads.c - processes whose threads call MPI at the same time.
 *
 * The calls of each thread are made in a side of the rank (run/own.h). All threads share the rank's
 * clock, as in `orrery run`: it advances with what any of them computes or waits for, and a call
 * begins when its thread has computed up to it, but not before the rank is there.
 *
 * Messages are handled in the order in which the process has sent them. A thread leaves its calls
 * when they are complete here, in the order of virtual time. If it was the only one, it need not
 * wait for that: its next message does. If that cannot be, as the simulated MPI waits for a
 * receiver where the real one does not, messages of other threads go first.
 *
 * While a thread computes, the rank does not go on with calls of others that would wait: it may
 * send something at the rank's clock. Decisions of the present time are taken.
 */
#include <string.h>

#include "base/mem.h"
#include "hybrid/standin.h"
#include "run/own.h"

static const struct hybrid_head *head_of(const struct standin_message *m)
{
    return (const struct hybrid_head *)(const void *)m->data;
}

static struct standin_thread *find(const struct standin *s, uint32_t number)
{
    struct standin_thread *t = s->threads;
    while (t && t->number != number)
        t = t->next;
    return t;
}

/* A thread of which the process has not said that it begins has computed up to now. */
static struct standin_thread *get(struct standin *s, uint32_t number)
{
    struct standin_thread *t = find(s, number);
    if (!t) {
        t = standin_thread_make(s, number);
        t->clock = orrery_own_clock();
    }
    return t;
}

/* ---- sides ---- */

static void drop(struct standin_message *m)
{
    orrery_own_release(m->data);
    mem_free(m);
}

static void run_side(void *standin);

/* Continues with the thread until it waits. */
static void run(struct standin *s, struct standin_thread *t)
{
    s->now = t;
    s->k.lane = t->lane;
    enum orrery_own_side state = orrery_own_side_run(t->number, run_side, s);
    t->lane = s->k.lane;
    t->is_blocked = state == ORRERY_OWN_SIDE_BLOCKED;
}

const uint8_t *standin_thread_await(struct standin *s, const struct orrery_own_call *c,
                                    size_t *bytes)
{
    struct standin_thread *t = s->now;
    t->is_told = c != NULL;
    while (!t->given)
        orrery_own_side_await(c);
    t->is_told = 0;
    struct standin_message *m = t->given;
    const uint8_t *data = m->data;
    t->given = NULL;
    *bytes = m->bytes;
    mem_free(m);
    return data;
}

static void run_side(void *standin)
{
    struct standin *s = standin;
    for (;;) {
        size_t bytes;
        const uint8_t *data = standin_thread_await(s, NULL, &bytes);
        standin_handle(s, data, bytes);
        orrery_own_release(data);
    }
}

/* ---- messages ---- */

static void add(struct standin *s, const void *data, size_t bytes)
{
    struct standin_message *m = mem_alloc(sizeof *m);
    *m = (struct standin_message){NULL, data, bytes};
    *s->last = m;
    s->last = &m->next;
}

static void take_all(struct standin *s)
{
    size_t bytes;
    const void *data;
    while ((data = orrery_own_take(&bytes)) != NULL)
        add(s, data, bytes);
}

/* Whether a message of the same thread is before it. */
static int is_behind(const struct standin *s, const struct standin_message *m)
{
    for (const struct standin_message *other = s->first; other != m; other = other->next)
        if (head_of(other)->thread == head_of(m)->thread)
            return 1;
    return 0;
}

/* The message that is to be handled next, or NULL. is_loose: nothing else can happen. */
static struct standin_message *take_next(struct standin *s, int is_loose)
{
    for (struct standin_message **at = &s->first; *at; at = &(*at)->next) {
        struct standin_message *m = *at;
        const struct standin_thread *t = find(s, head_of(m)->thread);
        int waits = t && t->is_blocked && head_of(m)->kind != HYBRID_ASKS;
        if (!waits && !is_behind(s, m)) {
            *at = m->next;
            if (!m->next)
                s->last = at;
            return m;
        }
        if (!is_loose)
            break;
    }
    return NULL;
}

/* The thread has computed so far. */
static void advance(struct standin *s, struct standin_thread *t, const struct hybrid_head *head)
{
    s->now = t;
    s->k.lane = t->lane;
    standin_compute(s, head->computed);
    t->lane = s->k.lane;
}

/* Does no thread compute? Those that were in calls when the process said so are still, here. */
static int rests(const struct standin *s)
{
    uint32_t inside = 0;
    for (const struct standin_thread *t = s->threads; t; t = t->next)
        inside += (uint32_t)(t->is_blocked || t->is_told);
    return s->rests && inside >= s->inside;
}

/* The answer comes when the call is complete. */
static void ask(struct standin *s, struct standin_thread *t)
{
    t->asks = HYBRID_ASK_RESULT;
    s->now = t;
    if (!t->is_blocked)
        standin_answer(s, HYBRID_ASK_RESULT);
}

static void handle(struct standin *s, struct standin_message *m)
{
    struct hybrid_head head;
    memcpy(&head, m->data, sizeof head);
    int has_rested = rests(s);
    s->rests = head.rests;
    s->inside = head.inside;
    if (head.kind == HYBRID_RESTS) {
        drop(m);
        return;
    }
    struct standin_thread *t = get(s, head.thread);
    if (has_rested)
        orrery_own_catch_up();
    if (head.kind == HYBRID_CALLS) {
        t->given = m;
        run(s, t);
        return;
    }
    if (head.kind == HYBRID_ASKS)
        ask(s, t);
    if (head.kind == HYBRID_BEGINS || head.kind == HYBRID_ENDS)
        advance(s, t, &head);
    if (head.kind == HYBRID_BEGINS)
        get(s, head.other)->clock = t->clock;
    drop(m);
}

/* ---- all of them ---- */

/* Lets threads go on that wait for decisions of the present time. */
static void run_due(struct standin *s)
{
    for (struct standin_thread *t = s->threads; t && !s->aborts; t = t->next)
        if (t->is_blocked && orrery_own_side_is_due(t->number))
            run(s, t);
}

/* The thread that waits in a call, has not looked yet, and goes on first, if that is certain; or
 * NULL. */
static struct standin_thread *find_first(const struct standin *s)
{
    struct standin_thread *first = NULL;
    int64_t best = 0;
    for (struct standin_thread *t = s->threads; t; t = t->next) {
        int64_t end = t->is_blocked && !t->has_looked ? orrery_own_side_end(t->number) : -1;
        if (end >= 0 && (!first || end < best)) {
            first = t;
            best = end;
        }
    }
    if (!first || best <= orrery_own_clock() || orrery_own_is_safe(best))
        return first;
    return NULL;
}

/* Lets threads go on that wait in calls, until one has left its call: that one computes. Returns
 * whether there is one. */
static int run_blocked(struct standin *s)
{
    struct standin_thread *t;
    for (t = s->threads; t; t = t->next)
        t->has_looked = 0;
    while (!s->aborts && (t = find_first(s)) != NULL) {
        run(s, t);
        t->has_looked = 1;
        if (!t->is_blocked)
            return 1;
    }
    return 0;
}

/* Handles a message, or waits for something to happen. Returns whether nothing can happen. */
static int step(struct standin *s, int is_loose)
{
    struct standin_message *m = take_next(s, is_loose);
    int can_nothing = 0;
    if (m) {
        handle(s, m);
        return 0;
    }
    if (!s->first && !rests(s)) {
        orrery_own_pause(ORRERY_OWN_AWAY);
        s->must_look = 1;
        run_due(s);
        return 0;
    }
    if (!s->must_look)
        can_nothing = orrery_own_pause(s->first                      ? ORRERY_OWN_BUSY
                                       : s->rests == HYBRID_ALL_WAIT ? ORRERY_OWN_LED
                                                                     : ORRERY_OWN_SEEMS_LED);
    s->must_look = run_blocked(s);
    return can_nothing;
}

void standin_serve_threads(struct standin *s, const void *data, size_t bytes)
{
    int can_nothing = 0;
    s->last = &s->first;
    s->is_threaded = 1;
    s->now->clock = orrery_own_clock();
    s->now->lane = s->k.lane;
    add(s, data, bytes);
    while (!s->is_over && !s->aborts) {
        take_all(s);
        can_nothing = step(s, can_nothing);
    }
    if (s->aborts) {
        s->is_threaded = 0;
        standin_abort(s, s->abort_code);
    }
}
