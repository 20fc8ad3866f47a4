/*
 * emulate.c - paces ranks and events by real time (see emulate.h).
 */
#include "mpi/main/emulate.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>

#include "base/mem.h"
#include "base/sys.h"
#include "base/ticks.h"
#include "emulate/remote_clock.h"
#include "emulate/factor.h"
#include "mpi/clock.h"
#include "mpi/entry.h"
#include "mpi/p2p/p2p_internal.h"
#include "mpi/p2p/strand.h"
#include "processor/processor.h"
#include "run/share.h"

#define ROUNDS 31        /* hand-overs that are measured at the beginning */
#define NAP_NS 50000     /* naps whose excess is measured */
#define AHEAD_NS 2000000 /* time begins this much later than it is announced */
#define WAIT_NS 50000000 /* the scheduler looks after other things at least this often */
/* Events count as in time if they are late by at most 1 / TOLERANCE_PART of the lookahead, or by
 * TOLERANCE_LEAST. */
#define TOLERANCE_PART 8
#define TOLERANCE_LEAST VTIME_US

static struct {
    struct emulate_pace pace;
    struct emulate_control control;
    double factor;
    int is_dynamic;
    int computes;       /* slices take time */
    int64_t clock_cost; /* of reading the processor time, in nanoseconds */
    int64_t looked;     /* when the scheduler last looked after other things */
    unsigned cores;
} emulation;

/* Private to each process. */
struct own {
    pthread_mutex_t lock; /* of the program's threads, one of which is inside at a time */
    pthread_t inside;
    int depth;                 /* 0: the program runs */
    int runs;                  /* it has begun */
    struct emulate_pace *pace; /* its own if the process is on another computer */
    long thread;               /* the thread that left last; the following are of that moment */
    vtime left;                /* the rank's clock */
    vtime seen;                /* the time that the thread has read since */
    int64_t cpu;               /* processor time of the thread */
    int64_t all;               /* processor time of all threads */
    int64_t wall;              /* real time */
};
_Static_assert(sizeof(struct own) <= sizeof vp_private.room, "fits into the private page");

static struct own *own(void)
{
    return (struct own *)vp_private.room;
}

/* ---- processor time ---- */

static int64_t nanoseconds(clockid_t clock)
{
    struct timespec t;

    syscall(SYS_clock_gettime, clock, &t);
    return t.tv_sec * 1000000000 + t.tv_nsec;
}

static void mark(struct own *o)
{
    o->thread = syscall(SYS_gettid);
    o->wall = emulate_wall();
    o->all = nanoseconds(CLOCK_PROCESS_CPUTIME_ID);
    o->cpu = nanoseconds(CLOCK_THREAD_CPUTIME_ID);
}

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* What the program has computed since the mark, in nanoseconds. Threads that compute in parallel
 * make it faster. */
static int64_t computed(const struct own *o)
{
    int64_t ns;

    if (syscall(SYS_gettid) == o->thread && vp_thread_count() == 1)
        ns = nanoseconds(CLOCK_THREAD_CPUTIME_ID) - o->cpu;
    else
        ns = smaller(nanoseconds(CLOCK_PROCESS_CPUTIME_ID) - o->all, emulate_wall() - o->wall);
    ns -= emulation.clock_cost;
    return ns > 0 ? ns : 0;
}

/* ---- a rank's process ---- */

/* The rank is away: what arrives meanwhile is handled by the helper, if it must be at once. */
static void go_away(struct mpi_rank *self)
{
    vtime due;

    do
        mpi_drain(self);
    while (mpi_decide(self, VTIME_NEVER, &due) || self->ent.inbox);
    engine_block_away(&mpi_world.engine, &self->ent, mpi_rank_index(self), due,
                      mpi_has_strands(self) ? 1 : UINT32_MAX);
}

/* In the thread of the helper: it has the turn already, unless it is only measured how long that
 * takes to come (hand_over_time). User operations and other callbacks of the program may make local
 * calls meanwhile. */
static __thread int is_helping;

static void help(void)
{
    struct mpi_rank *self = mpi_self();

    if (engine_is_away(&self->ent))
        return;
    is_helping = 1;
    go_away(self);
    is_helping = 0;
}

void mpi_emulate_started(void)
{
    struct own *o = own();

    *o = (struct own){.depth = 1, .pace = &emulation.pace};
    if (vp_is_remote(mpi_rank_id(mpi_self())))
        o->pace = mem_zalloc_private(sizeof *o->pace);
    pthread_mutex_init(&o->lock, NULL);
    prctl(PR_SET_TIMERSLACK, 1);
    vp_help(help);
}

void mpi_emulate_running(void)
{
    own()->inside = pthread_self();
    pthread_mutex_lock(&own()->lock);
    own()->runs = 1;
    mpi_emulate_leave(1);
}

/* In ticks, as the processor model wants it. */
static uint64_t slice(const struct own *o)
{
    return emulation.computes ? (uint64_t)((double)computed(o) * ticks_per_ns()) : 0;
}

/* The time that the slice took, by what is known before the processor model is asked. */
static vtime estimate(uint64_t ticks)
{
    return vtime_from_ps_double((double)ticks * mpi_world.ps_per_tick);
}

vtime mpi_emulate_peek(const struct mpi_rank *self)
{
    struct own *o = own();
    vtime t, now;

    (void)self;
    if (o->depth || vp_thread_count() > 1)
        return 0;
    t = vtime_add(o->left, estimate(slice(o)));
    emulate_sleep(o->pace, t);
    now = emulate_time_at(o->pace, emulate_wall() - o->pace->overhead);
    t = now > t ? now : t;
    o->seen = t > o->seen ? t : o->seen;
    return o->seen;
}

void mpi_emulate_enter(void)
{
    struct own *o = own();
    struct mpi_rank *self = mpi_self();
    uint64_t ticks;
    vtime now;

    if (is_helping)
        return;
    if (o->depth && pthread_equal(o->inside, pthread_self())) {
        o->depth++;
        return;
    }
    ticks = slice(o);
    pthread_mutex_lock(&o->lock);
    o->inside = pthread_self();
    o->depth = 1;
    emulate_sleep(o->pace, vtime_add(o->left, estimate(ticks)));
    now = emulate_time_at(o->pace, emulate_wall() - o->pace->overhead);
    vp_come_back();
    if (ticks)
        mpi_charge_ticks(self, ticks, MPI_FN_COUNT);
    if (engine_reached(&mpi_world.engine) > now)
        now = engine_reached(&mpi_world.engine);
    mpi_clock_reach(self, emulate_called(&emulation.pace, self->ent.clock, now));
    mpi_clock_reach(self, o->seen);
}

void mpi_emulate_leave(int quiet)
{
    struct own *o = own();
    struct mpi_rank *self = mpi_self();

    (void)quiet;
    if (is_helping)
        return;
    if (o->depth > 1) {
        o->depth--;
        return;
    }
    o->left = o->seen = self->ent.clock;
    go_away(self);
    vp_go_out();
    emulate_sleep(o->pace, o->left);
    o->depth = 0;
    mark(o);
    pthread_mutex_unlock(&o->lock);
}

/* ---- processes on other computers ---- */

void mpi_emulate_serve_clock(int fd)
{
    emulate_clock_serve(fd, &emulation.pace);
}

void mpi_emulate_follow_clock(int fd)
{
    emulate_clock_follow(fd, own()->pace);
}

void mpi_emulate_alone(int begins)
{
    if (!own()->runs)
        return; /* it still has its first turn */
    if (begins)
        mpi_emulate_enter();
    else
        mpi_emulate_leave(1);
}

/* ---- the simulator ---- */

_Static_assert(EMULATE_BINS == RUN_TREND_BINS, "the page has room");

static int by_value(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

static int64_t median(int64_t *values, size_t n)
{
    qsort(values, n, sizeof *values, by_value);
    return values[n / 2];
}

/* How long the turn takes to a process and back. The rank is away, and its helper has nothing to
 * do. */
static int64_t hand_over_time(struct mpi_rank *r)
{
    int64_t took[ROUNDS];

    for (int i = 0; i < ROUNDS; i++) {
        int64_t start = emulate_wall();

        vp_resume(&r->vp);
        took[i] = emulate_wall() - start;
    }
    return median(took, ROUNDS);
}

/* The longest: processes on this computer are all alike, others are not. */
static int64_t longest_hand_over(void)
{
    int64_t longest = hand_over_time(&mpi_world.ranks[0]);

    for (uint32_t i = 1; i < mpi_world.size; i++) {
        int64_t took = vp_is_remote(i) ? hand_over_time(&mpi_world.ranks[i]) : 0;

        longest = took > longest ? took : longest;
    }
    return longest;
}

/* How much longer the system lets a process sleep than it asked for. */
static int64_t oversleeping(void)
{
    int64_t took[ROUNDS];

    for (int i = 0; i < ROUNDS; i++) {
        int64_t start = emulate_wall();

        syscall(SYS_nanosleep, &(struct timespec){.tv_nsec = NAP_NS}, NULL);
        took[i] = emulate_wall() - start - NAP_NS;
    }
    return median(took, ROUNDS);
}

static int64_t reading_time(void)
{
    int64_t took[ROUNDS];

    for (int i = 0; i < ROUNDS; i++) {
        int64_t start = nanoseconds(CLOCK_THREAD_CPUTIME_ID);

        took[i] = nanoseconds(CLOCK_THREAD_CPUTIME_ID) - start;
    }
    return median(took, ROUNDS);
}

/* Events that are late by a fraction of what a message takes are in time. */
static vtime tolerance(const struct net *net)
{
    vtime delay = net->ranks > 1 ? net_delay(net, 0, net->ranks - 1, 0, 0) : 0;
    vtime part = (delay > net->lookahead ? delay : net->lookahead) / TOLERANCE_PART;

    return part > TOLERANCE_LEAST ? part : TOLERANCE_LEAST;
}

void mpi_emulate_init(const struct run_options *o)
{
    double enough;

    emulation.cores = run_share_cores();
    emulation.factor = o->factor;
    emulation.is_dynamic = o->factor_dynamic;
    emulation.computes = mpi_world.measured;
    mpi_world.measured = 0; /* slices are measured here */
    mpi_world.paced = 1;
    mpi_world.costs.receives = mpi_world.costs.requests = 1; /* to count expected messages */
    enough = (double)(o->ranks + 1) / emulation.cores;
    emulate_control_init(&emulation.control, enough > 1 ? enough : 1, tolerance(&mpi_world.net));
    emulation.clock_cost = reading_time();
}

/* All ranks have started, and wait for time to begin. A call needs two hand-overs, and a process or
 * the simulator that sleeps before it. */
static void begin(void)
{
    int64_t overhead;

    prctl(PR_SET_TIMERSLACK, 1);
    overhead = 2 * longest_hand_over() + oversleeping();
    emulate_begin(&emulation.pace, emulate_wall() + AHEAD_NS + overhead,
                  emulation.is_dynamic ? emulation.control.factor : emulation.factor, overhead);
}

static void look_after_others(int64_t wall)
{
    struct engine *e = &mpi_world.engine;

    if (wall - emulation.looked < WAIT_NS)
        return;
    emulation.looked = wall;
    e->idle(e->cfg.owner);
}

vtime mpi_emulate_pace(void *owner, vtime next)
{
    int64_t wall;
    vtime now;

    (void)owner;
    if (!atomic_load(&emulation.pace.changes))
        begin();
    wall = emulate_wall();
    now = emulate_now(&emulation.pace, wall);
    look_after_others(wall);
    if (next <= now) {
        emulate_executed(&emulation.pace, next, now);
        if (emulation.is_dynamic)
            emulate_adapt(&emulation.control, &emulation.pace, wall, now - next);
        return now;
    }
    if (emulation.is_dynamic)
        emulate_adapt(&emulation.control, &emulation.pace, wall, -1);
    vp_await_request(emulate_until(&emulation.pace, next, wall, WAIT_NS));
    return 0; /* calls that have come meanwhile go first */
}

void mpi_emulate_result(struct run_page *page)
{
    const struct emulate_pace *p = &emulation.pace;
    struct run_emulated *out = &page->end.emulated;

    out->unexpected = mpi_world.costs.matched[0];
    out->expected = mpi_world.costs.matched[1];
    if (!atomic_load(&p->changes))
        return; /* time has not begun */
    out->factor = emulate_mean_factor(p);
    out->factor_least = p->factor_least;
    out->factor_most = p->factor_most;
    out->overhead_ns = (uint64_t)p->overhead;
    out->events = p->events;
    out->late_calls = p->late;
    out->max_behind = p->max_behind;
    out->max_late = p->max_late;
    out->lost = p->lost;
    out->tolerance = emulation.control.tolerance;
    out->cores = emulation.cores;
    out->trend_width = p->trend.width;
    out->trend_bins = p->trend.bins;
    memcpy(out->trend, p->trend.most, sizeof p->trend.most);
}
