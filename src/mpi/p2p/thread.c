/*
 * thread.c - several threads of one rank inside the virtual MPI (see thread.h).
 *
 * The thread that is inside holds vp_private.inside; `turn` says whether the rank has the turn.
 * Threads that wait in the virtual MPI are in the list of waiters, each asleep on its own word, or
 * parked. `round` counts the events that may matter to them: a thread was inside, or the rank was
 * away. The thread that begins a round handles messages and takes decisions for all, and checks the
 * condition of each waiter (`holds`): those for which nothing has changed sleep on. The others have
 * not seen the round yet and are called, one at a time (thread_call.c); each that sleeps again, or
 * leaves, calls the next. So the lock is not contended.
 *
 * Once all have looked, and no thread wants to enter, the last of them gives the rank's turn away:
 * it blocks the rank if every other thread is idle, too (vp_threads_idle, vp_threads_sleep); else
 * it becomes the *pilot*, which manages the rank's turn while others compute: it sleeps for a
 * while, and then lets other ranks go first. As long as there are waiters, some thread has been
 * called, or is the pilot, or is inside, or wants to enter, or has given the turn away.
 *
 * How far may others go while a thread of the rank computes? That thread may send at the time up to
 * which it has computed, and not before. So the rank blocks as if it had a decision due then:
 *
 *     its computing takes time    `computed`, which moves while the pilot sleeps
 *     it takes none               the rank's clock. A thread that spins until another gets its
 *                                 message would never end that, so one that has computed for longer
 *                                 than PATIENCE_NS is assumed to spin until it enters again:
 *                                 nothing waits for the rank (engine_block_busy).
 *     below MPI_THREAD_MULTIPLE   nothing waits for it either: while one thread is in a call, no
 *                                 other may make one. So OpenMP's idle threads do not matter.
 *
 * A thread that enters nevertheless continues from the time that the others have reached
 * (catch_up).
 *
 * If no thread is inside, none can give the turn away; so a thread that leaves passes it on if the
 * threads have recently been outside for longer than LONG_NS (go_out): they may be spinning at
 * their own barrier. Nothing is decided while they are out, and the next one that enters requests
 * the turn and waits for it.
 *
 * This state is private to each process.
 */
#include "mpi/thread.h"

#include <limits.h>
#include <sched.h>
#include <sys/prctl.h>
#include <time.h>

#include "base/sys.h"
#include "base/ticks.h"
#include "mpi/p2p/thread_internal.h"

#define PAUSE_NS 20000  /* the pilot's first sleep */
#define SLACK_NS 1000   /* the system must not prolong a sleep by much more */
#define PAUSE_DOUBLES 5 /* how often the sleep doubles */
#define PART_AFTER 3    /* sleeps in a row, without a call, after which threads are not pinned */
#define LOOK_EVERY 8 /* fruitless sleeps after which all check for changes that bring no message */
#define PATIENCE_NS 20000000 /* processor time after which a computing thread is assumed to spin */
/* After this time without a thread inside, so many calls pass the rank's turn on when they
 * return. */
#define LONG_NS 5000000
#define GENEROUS 32

/* The processor time of a thread (clock_getcpuclockid(3) has it for handles only). */
#define THREAD_CLOCK(tid) ((clockid_t)(~(unsigned)(tid) << 3 | 6))

static __thread uint32_t sleeps_seen; /* threads.sleeps when this one last left */

static struct threads *threads(void)
{
    return (struct threads *)vp_private.room;
}

/* Asks the system not to interrupt a thread when it wakes another: usually it is about to sleep, so
 * that would only double the number of switches. */
static void hand_over_directly(void)
{
    struct sched_param none = {0};

    if (syscall(SYS_sched_getscheduler, 0) == SCHED_OTHER)
        syscall(SYS_sched_setscheduler, 0, SCHED_BATCH, &none);
}

void mpi_thread_begin(void)
{
    struct threads *t = threads();

    if (vp_private.threaded)
        return;
    *t = (struct threads){.turn = 1, .steady_min = P2P_STEADY_MIN};
    /* Later threads inherit both. */
    prctl(PR_SET_TIMERSLACK, SLACK_NS);
    hand_over_directly();
    vp_private.threaded = 1;
}

/* ---- what is computed while others wait ---- */

/* -1: there is no such thread. */
static int64_t nanoseconds(clockid_t clock)
{
    struct timespec now;

    if (syscall(SYS_clock_gettime, clock, &now) != 0)
        return -1;
    return now.tv_sec * 1000000000 + now.tv_nsec;
}

/* Processor time of all threads but one of them. */
static int64_t cpu_beside(long tid)
{
    return nanoseconds(CLOCK_PROCESS_CPUTIME_ID) - nanoseconds(THREAD_CLOCK(tid));
}

static void mark_set(struct threads *t, const struct mpi_rank *self, long pilot)
{
    t->mark = (struct mark){pilot, cpu_beside(pilot), ticks_now(), 0};
    if (t->computed < self->ent.clock)
        t->computed = self->ent.clock;
}

/*
 * Advances `computed` by what they have computed in parallel since the mark, whoever had the turn,
 * but by no more than the time that has passed. The system updates the time of a running thread
 * only now and then, so the sum is used. Returns 0 if computing takes no time.
 */
static int earn(struct threads *t, struct mpi_rank *self)
{
    struct mark *m = &t->mark;
    vtime clock = self->ent.clock, before = t->computed;
    double ran, passed;
    uint64_t ticks;

    if (!m->pilot || mpi_world.slice_clock)
        return 0;
    ran = (double)(cpu_beside(m->pilot) - m->cpu) * ticks_per_ns();
    passed = (double)(ticks_now() - m->ticks);
    if (ran > passed)
        ran = passed;
    if (ran < (double)m->earned + 1)
        return 1;
    ticks = (uint64_t)ran;
    self->ent.clock = before;
    mpi_charge_ticks(self, ticks - m->earned, MPI_FN_COUNT);
    mpi_slice_begin();
    m->earned = ticks;
    t->computed = self->ent.clock;
    self->ent.clock = clock;
    return t->computed > before;
}

/* ---- entering and leaving ---- */

/* Others may be ahead of a thread that enters: threads that computed in parallel, and other
 * ranks. */
static void catch_up(struct threads *t)
{
    struct mpi_rank *self = mpi_self();

    if (t->blocked > 0)
        mpi_clock_reach(self, engine_reached(&mpi_world.engine));
    if (sleeps_seen == t->sleeps)
        return;
    earn(t, self);
    mpi_clock_reach(self, t->computed);
    t->mark.pilot = 0;
    t->spinning = 0;
    t->patient_since = 0;
}

static void turn_is_back(struct threads *t)
{
    t->turn = 1;
    vp_withdraw_request();
    atomic_fetch_add(&t->turned, 1);
    if (atomic_load(&t->arriving))
        plain_wake(&t->turned, INT_MAX);
    mpi_slice_begin();
}

/* Was no thread inside for so long that other ranks could have had the turn? */
static void judge_absence(struct threads *t)
{
    if (!t->left)
        return;
    if ((double)(ticks_now() - t->left) > LONG_NS * ticks_per_ns())
        t->generous = GENEROUS;
    else if (t->generous)
        t->generous--;
    t->left = 0;
}

/* Computing threads need not keep the turn from other ranks, unless computing takes time, which is
 * measured during the rank's turn. */
static int may_go_out(const struct threads *t)
{
    return t->generous && !t->waiters && vp_private.threads > 0 && !mpi_world.measured &&
           !mpi_world.shared && atomic_load(&t->arriving) == 0;
}

static void go_out(struct threads *t, struct mpi_rank *self)
{
    engine_go_out(&mpi_world.engine, &self->ent);
    t->turn = 0;
    t->out = 1;
    if (!vp_pass_turn()) {
        t->turn = 1;
        t->out = 0;
    }
}

static void await_turn(struct threads *t)
{
    uint32_t turned = atomic_load(&t->turned);
    int out = t->out;

    vp_request_turn();
    t->out = 0;
    plain_unlock(&vp_private.inside);
    if (out)
        vp_await_turn();
    else
        plain_sleep(&t->turned, turned, 0);
    plain_lock(&vp_private.inside);
    if (out)
        turn_is_back(t);
}

void p2p_thread_enter(void)
{
    struct threads *t = threads();

    if (vp_thread_depth++)
        return;
    p2p_thread_returns();
    atomic_fetch_add(&t->arriving, 1);
    plain_lock(&vp_private.inside);
    judge_absence(t);
    while (!t->turn)
        await_turn(t);
    atomic_fetch_sub(&t->arriving, 1);
    p2p_thread_pin(t);
    t->handled = mpi_world.handled;
    t->fruitless = 0;
    t->sleeps_entered = t->sleeps;
    catch_up(t);
}

void p2p_thread_leave(int quiet)
{
    struct threads *t = threads();
    plain_word *ring;

    if (--vp_thread_depth)
        return;
    sleeps_seen = t->sleeps;
    if (!quiet || t->handled != mpi_world.handled || mpi_self()->ent.inbox) {
        p2p_thread_look(t, mpi_self());
        mpi_slice_begin();
    }
    ring = p2p_thread_call(t);
    if (!t->waiters)
        t->left = ticks_now();
    if (may_go_out(t))
        go_out(t, mpi_self());
    plain_unlock(&vp_private.inside);
    if (ring)
        plain_wake(ring, 1);
}

/* ---- giving the turn away ---- */

static int waits_inside(const void *threads, long tid)
{
    const struct threads *t = threads;

    for (const struct waiter *w = t->waiters; w; w = w->next)
        if (w->tid == tid)
            return 1;
    return 0;
}

/* Asks the system, which takes a while. */
static int others_sleep(struct threads *t)
{
    t->restless = !vp_threads_sleep(waits_inside, t);
    return !t->restless;
}

static int at_rest(struct threads *t)
{
    return atomic_load(&t->arriving) == 0 && (vp_threads_idle(t->blocked) || others_sleep(t)) &&
           atomic_load(&t->arriving) == 0;
}

static vtime first_due(const struct threads *t)
{
    vtime due = VTIME_NEVER;

    for (const struct waiter *w = t->waiters; w; w = w->next)
        if (w->due < due)
            due = w->due;
    return due;
}

/* The rank is blocked, or ready after others. `is_held`: nothing that happens meanwhile depends on
 * its computing threads, if there are any. */
static void give_away(struct threads *t, int is_held)
{
    uint32_t waiting = t->blocked;

    t->turn = 0;
    plain_unlock(&vp_private.inside);
    if (is_held)
        vp_suspend_computing(waiting);
    else
        vp_suspend();
    plain_lock(&vp_private.inside);
    turn_is_back(t);
}

static void block_rank(struct threads *t, struct mpi_rank *self, uint32_t wake_after)
{
    t->fruitless = 0;
    engine_block(&mpi_world.engine, &self->ent, mpi_rank_index(self), first_due(t),
                 t->blocked > 1 ? 1 : wake_after);
    give_away(t, 0);
    p2p_thread_look(t, self);
}

/* ---- while some compute ---- */

/* While one thread is in a call, no other makes one. */
static int is_serial(const struct threads *t, const struct mpi_rank *self)
{
    return self->thread_level < MPI_THREAD_MULTIPLE && t->blocked == 1;
}

/* Has a thread computed for so long that it seems to spin? */
static int is_spinning(struct threads *t)
{
    int64_t now;

    if (t->spinning)
        return 1;
    now = nanoseconds(CLOCK_PROCESS_CPUTIME_ID);
    if (t->patient_since == 0)
        t->patient_since = now;
    t->spinning = now - t->patient_since > PATIENCE_NS;
    return t->spinning;
}

/* The time up to which others need not wait for the rank; VTIME_NEVER: they do not wait at all. */
static vtime hold_until(struct threads *t, struct mpi_rank *self)
{
    if (is_serial(t, self))
        return VTIME_NEVER;
    if (earn(t, self))
        return t->computed > self->ent.clock ? t->computed : self->ent.clock;
    return is_spinning(t) ? VTIME_NEVER : self->ent.clock;
}

/* Lets other ranks go first, as far as they may. If that may have ended a wait, all waiters
 * check. */
static void stand_by(struct threads *t, struct mpi_rank *self, uint32_t wake_after)
{
    struct engine *e = &mpi_world.engine;
    vtime safe = e->safe_until, due = first_due(t), until = hold_until(t, self);

    if (t->blocked > 1)
        wake_after = 1;
    if (until == VTIME_NEVER)
        engine_block_busy(e, &self->ent, mpi_rank_index(self), due, wake_after);
    else
        engine_block(e, &self->ent, mpi_rank_index(self), due < until ? due : until, wake_after);
    give_away(t, until != VTIME_NEVER || is_serial(t, self));
    if (self->ent.inbox || e->safe_until != safe || due <= e->reached ||
        self->ent.wake == ENGINE_WAKE_EXPLAIN || ++t->fruitless % LOOK_EVERY == 0)
        p2p_thread_look(t, self);
}

/* How long the pilot sleeps: longer each time, unless other ranks wait for the turn. */
static long pilot_pause(const struct threads *t)
{
    const struct engine *e = &mpi_world.engine;
    uint32_t doubles = t->fruitless < PAUSE_DOUBLES ? t->fruitless : PAUSE_DOUBLES;

    if (mpi_world.shared || engine_ready(e) > 0 || e->next_new < e->cfg.map.count)
        doubles = 0;
    return (long)PAUSE_NS << doubles;
}

/* Some threads compute. Lets them continue for a while; if they still compute, other ranks go
 * first. */
static void be_pilot(struct threads *t, struct mpi_rank *self, struct waiter *me,
                     uint32_t wake_after)
{
    uint64_t round = t->round;

    if (mpi_world.measured && (!t->mark.pilot || nanoseconds(THREAD_CLOCK(t->mark.pilot)) < 0))
        mark_set(t, self, me->tid);
    t->sleeps++;
    t->pilot = me;
    p2p_thread_sleep(t, me, pilot_pause(t));
    t->pilot = NULL;
    if (t->round != round || !t->turn || atomic_load(&t->arriving) || t->called)
        return;
    if (at_rest(t)) {
        block_rank(t, self, wake_after);
        return;
    }
    if (t->sleeps - t->sleeps_entered >= PART_AFTER)
        p2p_thread_unpin(t);
    stand_by(t, self, wake_after);
}

/* Is it certain without asking the system that nothing waits for the computing threads? Not twice
 * in a row. */
static int is_known(const struct threads *t, const struct mpi_rank *self)
{
    return t->fruitless == 0 && (t->spinning || is_serial(t, self)) &&
           atomic_load(&t->arriving) == 0;
}

/* If some were computing when the system was last asked, it is not asked again before the pilot has
 * slept. */
static int looks_at_rest(struct threads *t)
{
    return t->restless ? vp_threads_idle(t->blocked) && atomic_load(&t->arriving) == 0 : at_rest(t);
}

/* Behind all others, so that each is called in its turn. */
static void link_waiter(struct threads *t, struct waiter *w)
{
    struct waiter **at = &t->waiters;

    while (*at)
        at = &(*at)->next;
    *at = w;
}

static void unlink_waiter(struct threads *t, struct waiter *w)
{
    struct waiter **at = &t->waiters;

    while (*at != w)
        at = &(*at)->next;
    *at = w->next;
}

/* Will another thread give the turn away? Not if the pilot sleeps and all others are idle. */
static int is_cared_for(const struct threads *t)
{
    return t->called || p2p_thread_unseen(t) ||
           (t->pilot && (!vp_threads_idle(t->blocked) || atomic_load(&t->arriving)));
}

void mpi_thread_block(struct mpi_rank *self, vtime due, uint32_t wake_after, mpi_holds *holds,
                      const void *arg)
{
    struct threads *t = threads();
    struct waiter me = {.due = due,
                        .holds = holds,
                        .arg = arg,
                        .tid = vp_thread_tid(),
                        .round = t->round};

    if (t->handled != mpi_world.handled) {
        p2p_thread_look(t, self); /* at what this one did */
        me.round = t->round;
    }
    p2p_thread_waits(t);
    link_waiter(t, &me);
    t->blocked++;
    while (!t->turn || me.round == t->round) {
        if (!t->turn || is_cared_for(t))
            p2p_thread_sleep(t, &me, 0);
        else if (is_known(t, self))
            stand_by(t, self, wake_after);
        else if (looks_at_rest(t))
            block_rank(t, self, wake_after);
        else
            be_pilot(t, self, &me, wake_after);
    }
    t->handled = mpi_world.handled;
    t->blocked--;
    unlink_waiter(t, &me);
}
