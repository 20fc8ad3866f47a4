/*
 * clock.c - a rank's clock: what program time, reading clocks, sleeping and yielding cost.
 *
 * A slice of program time runs from the return of one MPI call, or from a switch into the rank, to
 * the next call. Host time is read as processor ticks (base/ticks.h), without those in which the
 * rank had no processor (base/oncpu.h). The plain processor model is here; all others are in
 * src/processor/, which compute.c binds.
 */
#include "mpi/clock.h"

#include "base/hostile.h"
#include "base/log.h"
#include "base/ticks.h"
#include "base/units.h"
#include "mpi/entry.h"
#include "mpi/user.h"
#include "mpi_impl.h"
#include "processor/processor.h"
#include "run/reading.h"

uint32_t mpi_clock_readings;
static struct { /* which rank last read a clock, and when: only one rank runs at a time */
    const struct mpi_rank *rank;
    vtime at;
} reader;
static uint64_t slices[64]; /* ticks spent in slices, by log2 of their length */
static uint64_t left_out;   /* ticks in slices without a processor */

void mpi_clock_watch(void)
{
    if (processor_is_timed())
        oncpu_init(&vp_private.oncpu, vp_ranks_are_processes() ? ONCPU_PROCESS : ONCPU_THREAD);
}

void mpi_clock_init(const struct run_options *o)
{
    mpi_compute_init();
    mpi_world.attentive = HOSTILE(1, 0) || mpi_world.measured || mpi_world.shared ||
                          run_host_kind(o->host)->processes ||
                          (mpi_world.observed & MPI_SEES_CALLS);
    mpi_world.send_overhead = o->platform.mpi_send_overhead;
    mpi_world.recv_overhead = o->platform.mpi_recv_overhead;
    mpi_world.test_cost = o->platform.mpi_test_cost;
    mpi_world.clock_cost = o->platform.mpi_clock_cost;
    mpi_world.may_cancel = (o->needs & MPI_NEED_CANCEL) != 0;
    mpi_world.sends_apart = mpi_world.net.rewinds ||
                            (o->needs & (MPI_NEED_FILES | MPI_NEED_NAMES | MPI_NEED_SPAWN)) != 0;
    if (mpi_world.measured)
        mpi_world.ps_per_tick = 1000.0 / ticks_per_ns() * processor_factor();
    mpi_clock_watch();
}

/* The slice was interrupted. */
__attribute__((noinline)) static int64_t without_waiting(int64_t ticks, uint64_t end)
{
    int64_t ran = (int64_t)oncpu_end_broken(&vp_private.oncpu, (uint64_t)ticks, end);

    left_out += (uint64_t)(ticks - ran);
    return ran;
}

static void count_slice(uint64_t ticks)
{
    if (ticks)
        slices[63 - __builtin_clzll(ticks)] += ticks;
}

/* Charges a slice by any model but the plain one. */
static void charge_slice(struct mpi_rank *self, uint64_t ticks, enum mpi_fn fn)
{
    struct mpi_seen_slice s = {.fn = fn};

    s.charged = processor_slice(mpi_rank_index(self), self->ent.clock, ticks, fn, &s.host);
    mpi_clock_add(self, s.charged);
    mpi_observe_slice(self, &s);
}

void mpi_charge_ticks(struct mpi_rank *self, uint64_t ticks, enum mpi_fn fn)
{
    if (__builtin_expect(!mpi_world.plain, 0)) {
        if (processor_is_timed())
            count_slice(ticks);
        charge_slice(self, ticks, fn);
        return;
    }
    count_slice(ticks);
    mpi_clock_add(self, (vtime)((double)ticks * mpi_world.ps_per_tick));
}

void mpi_charge(struct mpi_rank *self, enum mpi_fn fn)
{
    uint64_t now = __builtin_expect(mpi_world.slice_clock != NULL, 0) ? mpi_world.slice_clock()
                                                                      : ticks_now();
    int64_t ticks = (int64_t)(now - mpi_world.slice_start);

    mpi_world.slice_start = now;
    if (__builtin_expect(ticks <= 0, 0))
        ticks = 0;
    else if (__builtin_expect(!oncpu_is_whole(&vp_private.oncpu), 0))
        ticks = without_waiting(ticks, now);
    mpi_charge_ticks(self, (uint64_t)ticks, fn);
}

static uint64_t all_slices(void)
{
    uint64_t total = 0;

    for (int i = 0; i < 64; i++)
        total += slices[i];
    return total;
}

static double host_seconds(uint64_t ticks)
{
    return ticks ? (double)ticks / ticks_per_ns() * 1e-9 : 0;
}

double mpi_clock_computed(void)
{
    return host_seconds(all_slices());
}

double mpi_clock_left_out(void)
{
    return host_seconds(left_out);
}

double mpi_clock_median_slice(void)
{
    uint64_t total = all_slices(), below = 0;

    if (total == 0)
        return 0;
    for (int i = 0; i < 64; i++) {
        below += slices[i];
        if (2 * below >= total)
            return 1.5 * host_seconds((uint64_t)1 << i);
    }
    return 0;
}

void mpi_clock_overflow(struct mpi_rank *self)
{
    self->ent.clock = VTIME_LIMIT - 1;
    mpi_abort_run(self, 3,
                  "the virtual clock passed its limit of 53 days; "
                  "scale the program's time down");
}

void mpi_enter_attentive(struct mpi_rank *self, enum mpi_fn fn)
{
    mpi_thread_enter();
    if (mpi_world.measured)
        mpi_charge(self, fn);
    if (mpi_world.shared)
        mpi_share_enter();
}

void mpi_leave_attentive(struct mpi_rank *self, enum mpi_fn fn)
{
    if (mpi_world.shared)
        mpi_share_leave(self);
    if (HOSTILE(1, 0))
        mpi_share_yield(self);
    mpi_slice_begin();
    mpi_thread_leave(fn);
}

/* Program code begins and ends inside the virtual MPI. */
void mpi_user_begin(void)
{
    mpi_slice_begin();
}

void mpi_user_end(void)
{
    if (mpi_world.measured)
        mpi_charge(mpi_self(), MPI_FN_COUNT);
}

void mpi_clock_begin(struct mpi_rank *self)
{
    mpi_thread_enter();
    if (mpi_world.measured)
        mpi_charge(self, MPI_FN_COUNT);
}

void mpi_clock_end(void)
{
    mpi_slice_begin();
    mpi_thread_leave_quietly();
}

/* Threads may yield here, so all readings of theirs cost the same. */
static vtime cost_of_reading(const struct mpi_rank *self)
{
    if (reader.rank != self || reader.at != self->ent.clock)
        mpi_clock_readings = 0;
    return vp_private.threaded ? mpi_world.clock_cost
                               : reading_charge(&mpi_clock_readings, mpi_world.clock_cost);
}

vtime mpi_clock_read(struct mpi_rank *self)
{
    vtime seen = mpi_world.paced ? mpi_clock_peek(self) : 0;

    if (seen)
        return seen;
    mpi_clock_begin(self);
    mpi_clock_add(self, cost_of_reading(self));
    vtime now = self->ent.clock;
    reader.rank = self;
    reader.at = now;
    mpi_clock_end();
    return now;
}

void mpi_clock_spend(struct mpi_rank *self, vtime dt)
{
    mpi_clock_begin(self);
    mpi_clock_add(self, dt < VTIME_LIMIT ? dt : VTIME_LIMIT);
    mpi_clock_end();
}

/* ---- functions for programs ---- */

double mpi_wtime(void)
{
    struct mpi_rank *self = mpi_self();

    return self ? vtime_to_seconds(mpi_clock_read(self)) : 0.0;
}

double mpi_wtick(void)
{
    return 1e-12;
}

ORR_EXPORT void orrery_yield_real(void) __asm__("orrery_yield");

void orrery_yield_real(void)
{
    struct mpi_rank *self = mpi_self();

    if (self)
        mpi_clock_yield(self);
}
