/*
 * guest_clock.c - how long the program computes, and the clocks it reads.
 *
 * Only time between MPI calls counts: as the clock on the wall runs, or, where processes share
 * processors, as the thread runs. Clocks show the virtual time of the stand-in, which is asked for
 * when it is not known.
 */
#include <dlfcn.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "base/sys.h"
#include "base/vtime.h"
#include "hybrid/guest.h"
#include "run/reading.h"
#include "run/run.h"

#define NS_PER_S 1000000000
#define PS_PER_NS 1000
#define READINGS 32
#define EPOCH_S 1767225600 /* 2026-01-01, as `orrery run` has it */

static struct {
    clockid_t which;
    int64_t cost; /* ns; of reading the clock, which is no part of the program */
    int is_off;
    uint64_t kept; /* kept_waiting at the beginning */
    _Atomic(int64_t) shown;
    int (*gettime)(clockid_t, struct timespec *);
} timer = {.which = CLOCK_MONOTONIC};

static int64_t read_ns(void)
{
    struct timespec t;
    if (!timer.gettime)
        timer.gettime = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
    timer.gettime(timer.which, &t);
    return (int64_t)t.tv_sec * NS_PER_S + t.tv_nsec;
}

/* The least that was measured: no slice becomes shorter than it was. */
static int64_t reading_cost(void)
{
    int64_t least = INT64_MAX;
    for (int i = 0; i < READINGS; i++) {
        int64_t start = read_ns(), took = read_ns() - start;
        least = took < least ? took : least;
    }
    return least;
}

unsigned guest_clock_counts(void)
{
    return timer.is_off                     ? RUN_COUNTED_NONE
           : timer.which == CLOCK_MONOTONIC ? RUN_COUNTED_WALL
                                            : RUN_COUNTED_PROCESSOR;
}

static uint64_t kept_waiting(void)
{
    return sys_kept_waiting("/proc/self/schedstat");
}

uint32_t guest_clock_kept_us(void)
{
    uint64_t us = (kept_waiting() - timer.kept) / 1000;
    return us < UINT32_MAX ? (uint32_t)us : UINT32_MAX;
}

void guest_clock_init(int is_crowded)
{
    const char *how = getenv(HYBRID_VARIABLE);
    if (how && strcmp(how, HYBRID_COMPUTE_AUTO) != 0)
        is_crowded = strcmp(how, HYBRID_COMPUTE_PROCESSOR) == 0;
    timer.is_off = how && strcmp(how, HYBRID_COMPUTE_NONE) == 0;
    timer.which = is_crowded || guest.is_threaded ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC;
    timer.cost = reading_cost();
    timer.kept = kept_waiting();
    guest_clock_start();
}

void guest_clock_start(void)
{
    guest.me->started = read_ns();
    guest.me->is_running = 1;
}

void guest_clock_stop(void)
{
    if (guest.me->is_running && !timer.is_off) {
        int64_t span = read_ns() - guest.me->started - timer.cost;
        guest.me->computed += span > 0 ? span * PS_PER_NS : 0;
    }
    guest.me->is_running = 0;
}

/* ---- clocks that the program reads ---- */

static int is_virtual(void)
{
    return guest.is_open && !guest_am_inside() && !guest.is_over;
}

/* So much virtual time passes for the thread, whatever the speed. */
static void spend(struct guest_thread *t, int64_t ps)
{
    t->computed += t->answer->speed == 1 ? ps : (int64_t)((double)ps * t->answer->speed);
}

/* Reading takes time, as in `orrery run`: loops that wait for a point in time end. */
static void charge_reading(void)
{
    if (guest.me->computed != guest.me->read)
        guest.me->readings = 0;
    spend(guest.me, reading_charge(&guest.me->readings, guest.me->answer->clock_cost));
    guest.me->read = guest.me->computed;
}

/* In picoseconds. */
static int64_t now(void)
{
    if (!guest_try_enter())
        return atomic_load_explicit(&timer.shown, memory_order_relaxed);
    guest_clock_stop();
    if (!guest.me->is_clock_known || (guest.is_threaded && guest.me->serial != guest.serial))
        guest_flush(HYBRID_ASK_TIME, 0);
    charge_reading();
    int64_t since = guest.me->computed - guest.me->clock_computed;
    double speed = guest.me->answer->speed;
    int64_t t = guest.me->clock + (speed == 1 ? since : (int64_t)((double)since / speed));
    atomic_store_explicit(&timer.shown, t, memory_order_relaxed);
    guest_clock_start();
    guest_go_out();
    return t;
}

ORR_EXPORT double MPI_Wtime(void)
{
    static double (*real)(void);
    if (is_virtual())
        return vtime_to_seconds(now());
    if (!real)
        real = (double (*)(void))dlsym(RTLD_NEXT, "PMPI_Wtime");
    return real ? real() : 0;
}
extern __typeof__(MPI_Wtime) PMPI_Wtime ORR_EXPORT __attribute__((alias("MPI_Wtime")));

ORR_EXPORT double MPI_Wtick(void)
{
    return 1e-9;
}
extern __typeof__(MPI_Wtick) PMPI_Wtick ORR_EXPORT __attribute__((alias("MPI_Wtick")));

ORR_EXPORT int clock_gettime(clockid_t which, struct timespec *to)
{
    if (!timer.gettime)
        timer.gettime = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
    if (!is_virtual() || which == CLOCK_THREAD_CPUTIME_ID || which == CLOCK_PROCESS_CPUTIME_ID)
        return timer.gettime(which, to);
    int64_t ns = now() / PS_PER_NS;
    int is_date = which == CLOCK_REALTIME || which == CLOCK_REALTIME_COARSE;
    to->tv_sec = ns / NS_PER_S + (is_date ? EPOCH_S : 0);
    to->tv_nsec = ns % NS_PER_S;
    return 0;
}

ORR_EXPORT int gettimeofday(struct timeval *restrict to, void *restrict zone)
{
    struct timespec t;
    (void)zone;
    clock_gettime(CLOCK_REALTIME, &t);
    *to = (struct timeval){t.tv_sec, t.tv_nsec / 1000};
    return 0;
}

ORR_EXPORT time_t time(time_t *to)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    if (to)
        *to = t.tv_sec;
    return t.tv_sec;
}

/* Does the thread sleep in real time, as others may go on meanwhile? */
static int sleeps_beside(void)
{
    return guest.is_threaded ? guest.live > 1 : !guest_is_first(0);
}

/* The speed is in every answer. Asking for it is no reading of a clock, and takes no time. */
static void learn_speed(void)
{
    if (guest_own() && guest_own()->answer)
        return;
    while (!guest_try_enter())
        sched_yield();
    guest_clock_stop();
    if (!guest.me->answer)
        guest_flush(HYBRID_ASK_TIME, 0);
    guest_clock_start();
    guest_go_out();
}

/* Sleeping takes virtual time only, whatever the speed; threads of several do it in both times. */
ORR_EXPORT int nanosleep(const struct timespec *span, struct timespec *left)
{
    static int (*real)(const struct timespec *, struct timespec *);
    if (!real)
        real = (int (*)(const struct timespec *, struct timespec *))dlsym(RTLD_NEXT, "nanosleep");
    if (!is_virtual() || (sleeps_beside() && !guest.is_threaded))
        return real(span, left);
    learn_speed();
    spend(guest_own(), ((int64_t)span->tv_sec * NS_PER_S + span->tv_nsec) * PS_PER_NS);
    return sleeps_beside() ? real(span, left) : 0;
}

ORR_EXPORT int clock_nanosleep(clockid_t which, int flags, const struct timespec *span,
                               struct timespec *left)
{
    struct timespec t = {0};
    (void)left;
    if (flags & TIMER_ABSTIME)
        clock_gettime(which, &t);
    int64_t ns = (int64_t)(span->tv_sec - t.tv_sec) * NS_PER_S + span->tv_nsec - t.tv_nsec;
    t = (struct timespec){ns / NS_PER_S, ns % NS_PER_S};
    return ns > 0 ? nanosleep(&t, NULL) : 0;
}

ORR_EXPORT int usleep(useconds_t us)
{
    return nanosleep(&(struct timespec){us / 1000000, (long)(us % 1000000) * 1000}, NULL);
}

ORR_EXPORT unsigned sleep(unsigned s)
{
    nanosleep(&(struct timespec){.tv_sec = (time_t)s}, NULL);
    return 0;
}
