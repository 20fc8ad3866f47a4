/*
 * thread_call.c - wakes threads of a rank whose wait may be over, with few switches (see thread.c).
 *
 * A switch from one thread to another takes longer than a call. If threads take turns at short
 * calls, each should wake the next when it sleeps itself, and not before: then there is one switch
 * per wait. So a thread that leaves and is expected to be back soon calls a waiter without waking
 * it (`owed`), and wakes it when it waits.
 *
 * If it is not back soon, nothing is lost but time: the first part of a waiter's sleep is short.
 * Whoever finds then that it has been called makes all wary for a while. A short sleep is still
 * longer than a tick of the system, so that it does not have to set its timer.
 *
 * While all return quickly, they are pinned to one processor, and a thread that waits is parked:
 * the system's thread that ran it continues with the next one (vp_thread_switch), which takes a
 * fraction of the time of a switch by the system. A parked thread cannot sleep for a short time;
 * instead an idle thread of the system watches whether one was called and not woken.
 *
 * A thread that comes back late ends that, as does the pilot when others compute, or the scheduler
 * if the rank keeps its turn (vp_thread_pin). Each end doubles how long they must have been quick
 * before they are pinned again.
 */
#include "base/ticks.h"
#include "mpi/p2p/thread_internal.h"

#define SHORT_NS 5000000     /* how long a waiter sleeps that need not be woken at once */
#define LONG_SLEEPS 1024     /* the most sleeps in a row that are not short */
#define QUICK_NS 5000        /* outside, after which a thread is back soon */
#define QUICK_CALLS 8        /* in a row, after which it is expected to be */
#define WARY 64              /* calls that wake at once after it was not back soon */
#define WARY_DOUBLES 12      /* how often WARY may double */
#define KEPT 1024            /* how often it must be back soon until that halves again */
#define LATE_NS 50000        /* outside, after which threads are no longer pinned */
#define STEADY_MAX (1 << 20) /* the most quick returns that it takes to pin threads */
#define STEADY_PROVEN 8      /* that number halves after so many times as many quick returns */

/* What to expect of a thread. */
static __thread struct {
    uint64_t left;        /* when it last left, in ticks */
    uint64_t entries;     /* threads.entries then */
    double away;          /* for how long, in nanoseconds */
    uint32_t quick;       /* returns in a row that were quick */
    uint32_t late;        /* the last return was */
    uint32_t pinned;      /* threads.pinned when it was last pinned */
    int is_free;          /* it was pinned: the program has not bound it elsewhere */
    uint32_t long_sleeps; /* remaining sleeps that are not short */
    uint32_t next_long;   /* how many they will be when a short one was too short */
} habit;

void p2p_thread_look(struct threads *t, struct mpi_rank *self)
{
    vtime due;

    t->round++;
    if (!t->waiters || self->ent.wake == ENGINE_WAKE_EXPLAIN)
        return;
    do
        mpi_drain(self);
    while (mpi_decide(self, VTIME_NEVER, &due));
    for (struct waiter *w = t->waiters; w; w = w->next) {
        if (!w->holds)
            continue;
        w->due = due;
        if (!w->holds(self, w->arg))
            w->round = t->round;
    }
}

struct waiter *p2p_thread_unseen(const struct threads *t)
{
    struct waiter *w = t->waiters;

    while (w && w->round == t->round)
        w = w->next;
    return w;
}

/* Calls the next waiter that has something to do, or one that gives the turn away. Returns it if it
 * must be woken now; one that sleeps for a short time need not be if `later`. */
static struct waiter *call_next(struct threads *t, int later)
{
    struct waiter *w = t->called ? NULL : p2p_thread_unseen(t);

    if (!w && !t->called && !t->pilot)
        w = t->waiters;
    if (!w)
        return NULL;
    t->called = w;
    t->calls++;
    if (atomic_exchange(&w->call, CALLED) == CALL_LONG || !later)
        return w;
    t->owed = w;
    return NULL;
}

/* The word by which the waiter is to be woken after the lock is released; NULL: there is none. */
static plain_word *bell_of(struct threads *t, struct waiter *w)
{
    plain_word *bell = w ? &w->call : NULL;

    if (!w || !w->parked.is_parked)
        return bell; /* when it is rung, the waiter may be gone, which does no harm */
    bell = vp_thread_resume(&w->parked);
    if (!vp_private.idle)
        t->watched = 0;
    return bell;
}

/* The waiter that was called and not woken yet. */
static struct waiter *take_owed(struct threads *t)
{
    struct waiter *w = t->owed;

    t->owed = NULL;
    if (w && t->disappointed && ++t->kept == KEPT) {
        t->disappointed--;
        t->kept = 0;
    }
    return w;
}

/* A waiter has slept too long: the thread that was to wake it did not come back soon. */
static void disappoint(struct threads *t)
{
    t->wary = WARY << t->disappointed;
    t->kept = 0;
    if (t->disappointed < WARY_DOUBLES)
        t->disappointed++;
}

/* The thread can give the turn away itself: the waiter called for that, and not woken yet, sleeps
 * on. */
void p2p_thread_waits(struct threads *t)
{
    uint32_t was = CALLED;

    if (!t->owed || t->owed->round != t->round)
        return;
    atomic_compare_exchange_strong(&t->owed->call, &was, CALL_SHORT);
    t->owed = t->called = NULL;
}

plain_word *p2p_thread_call(struct threads *t)
{
    struct waiter *w = call_next(t, habit.quick == QUICK_CALLS && !t->wary);

    habit.left = ticks_now();
    habit.entries = t->entries;
    if (t->wary)
        t->wary--;
    return bell_of(t, w);
}

/* Returns 0 if the time was over first; 0 ns: there is no limit. */
static int sleep_on(struct waiter *me, uint32_t state, long ns)
{
    while (atomic_load(&me->call) != CALLED)
        if (!plain_sleep(&me->call, state, ns))
            return 0;
    return 1;
}

/* Its first sleep is short, so that others may call it without waking it. If that is often not
 * enough, it is left out more and more often. Returns 1 if the waiter had been called when the
 * short sleep was over. */
static int sleep_long(struct waiter *me)
{
    uint32_t was = CALL_SHORT;
    int was_short = !habit.long_sleeps;

    if (habit.long_sleeps) {
        habit.long_sleeps--;
    } else if (sleep_on(me, CALL_SHORT, SHORT_NS)) {
        habit.next_long /= 2;
        return 0;
    } else {
        if (habit.next_long < LONG_SLEEPS)
            habit.next_long = 2 * habit.next_long + 1;
        habit.long_sleeps = habit.next_long;
    }
    if (!atomic_compare_exchange_strong(&me->call, &was, CALL_LONG))
        return was_short;
    sleep_on(me, CALL_LONG, 0);
    return 0;
}

/* ---- switching without the system ---- */

/* Called now and then by a thread of the system that runs none of ours. If one was called and not
 * woken for a while, it is woken. If nothing happens, it is enough to wake those that are called
 * from now on. */
static int watch(void)
{
    struct threads *t = (struct threads *)vp_private.room;
    plain_word *bell = NULL;

    plain_lock(&vp_private.inside);
    if (t->calls != t->calls_watched) {
        t->calls_watched = t->calls;
    } else if (t->owed && t->owed->parked.is_parked) {
        t->owed->late = 1;
        bell = bell_of(t, t->owed);
    } else {
        t->watched = 0;
        for (struct waiter *w = t->waiters; w; w = w->next) {
            uint32_t was = CALL_SHORT;

            if (w->parked.is_parked)
                atomic_compare_exchange_strong(&w->call, &was, CALL_LONG);
        }
    }
    plain_unlock(&vp_private.inside);
    if (bell)
        plain_wake(bell, 1);
    return t->watched;
}

/* Only threads that take turns do. */
static int may_part(const struct threads *t)
{
    return t->pinned && habit.pinned == t->pinned && habit.is_free && vp_thread_may_park();
}

/* Sleeps until called; the thread of the system continues with the next one that was called. */
static void part(struct threads *t, struct waiter *me, struct waiter *next)
{
    vp_watch *first = t->watched ? NULL : watch;

    me->tid = 0;
    if (next && next->parked.is_parked) {
        atomic_store(&me->call, t->watched ? CALL_SHORT : CALL_LONG);
        vp_thread_switch(&me->parked, &next->parked);
    } else {
        t->watched = 1;
        t->calls_watched = t->calls - 1;
        vp_thread_park(&me->parked, next ? &next->call : NULL, first);
    }
    if (!me->parked.locked)
        plain_lock(&vp_private.inside);
    me->tid = vp_thread_tid();
}

/* ---- sleeping ---- */

/* As a thread of the system. */
static void sleep_in_place(struct threads *t, struct waiter *me, struct waiter *next, long ns)
{
    plain_word *bell = bell_of(t, next);

    plain_unlock(&vp_private.inside);
    if (bell)
        plain_wake(bell, 1);
    if (ns)
        sleep_on(me, CALL_SHORT, ns);
    else
        me->late = sleep_long(me);
    plain_lock(&vp_private.inside);
}

void p2p_thread_sleep(struct threads *t, struct waiter *me, long ns)
{
    struct waiter *next = take_owed(t);

    if (!next && t->turn && !ns)
        next = call_next(t, 0);
    me->late = 0;
    if (!ns && may_part(t) && atomic_load(&me->call) != CALLED)
        part(t, me, next);
    else
        sleep_in_place(t, me, next, ns);
    atomic_store(&me->call, CALL_SHORT);
    if (t->called == me)
        t->called = NULL;
    if (t->owed != me)
        return;
    t->owed = NULL;
    if (me->late)
        disappoint(t);
}

void p2p_thread_returns(void)
{
    habit.away = (double)(ticks_now() - habit.left) / ticks_per_ns();
}

/* Was it quick? On one processor a thread may be away because others make calls: their calls share
 * its time. Its first call tells nothing. */
static void judge_return(struct threads *t)
{
    double away = habit.away / (double)(++t->entries - habit.entries);

    if (!habit.left)
        return;
    habit.late = away > LATE_NS;
    if (away > QUICK_NS)
        habit.quick = 0;
    else if (habit.quick < QUICK_CALLS)
        habit.quick++;
}

/* ---- on one processor ---- */

static void unpin(struct threads *t)
{
    t->pinned = 0;
    t->steady = 0;
    if (t->steady_min < STEADY_MAX)
        t->steady_min *= 2;
    vp_threads_unpin();
}

void p2p_thread_unpin(struct threads *t)
{
    if (t->pinned)
        unpin(t);
}

static void count_steady(struct threads *t)
{
    t->steady = habit.late ? 0 : t->steady + (habit.quick > 0);
    if (!t->pinned && t->steady >= t->steady_min) {
        t->pinned = ++t->pinnings;
        t->steady = 0;
    } else if (t->pinned && t->steady / STEADY_PROVEN >= t->steady_min) {
        t->steady = 0;
        if (t->steady_min > P2P_STEADY_MIN)
            t->steady_min /= 2;
    }
}

void p2p_thread_pin(struct threads *t)
{
    judge_return(t);
    if (t->pinned && (habit.late || !vp_threads_are_pinned())) {
        unpin(t);
        return;
    }
    count_steady(t);
    if (!t->pinned || habit.pinned == t->pinned)
        return;
    habit.pinned = t->pinned;
    habit.is_free = vp_thread_pin();
}
