/*
 * Clocks: every clock that a rank can read shows virtual time.
 *
 *     CLOCK_REALTIME and kin     epoch + t          (TAI: + 37 s)
 *     CLOCK_MONOTONIC, BOOTTIME  UPTIME + t         a machine that was up for a while
 *     CPU time clocks            t                  a rank is charged for all of its time
 *
 * The hook `now` returns t and charges the cost of reading a clock, so polling loops end. Sleeping
 * and waiting are in sleep.c.
 */
#include "vp/libc/clock.h"

#include <sys/resource.h>
#include <sys/time.h>
#include <sys/times.h>
#include <time.h>

#define TICK (VTIME_S / 100) /* clock ticks of times(), sysconf(_SC_CLK_TCK) */

int64_t libc_clock_base(clockid_t id)
{
    switch (id) {
    case CLOCK_REALTIME:
    case CLOCK_REALTIME_COARSE:
    case CLOCK_REALTIME_ALARM:
        return vp_epoch;
    case CLOCK_TAI:
        return vp_epoch + 37;
    case CLOCK_MONOTONIC:
    case CLOCK_MONOTONIC_RAW:
    case CLOCK_MONOTONIC_COARSE:
    case CLOCK_BOOTTIME:
    case CLOCK_BOOTTIME_ALARM:
        return LIBC_UPTIME;
    case CLOCK_PROCESS_CPUTIME_ID:
    case CLOCK_THREAD_CPUTIME_ID:
        return 0;
    default: /* negative: CPU time of some process or thread; all of them are the rank's */
        return id < 0 ? 0 : LIBC_CLOCK_BAD;
    }
}

static struct timespec timespec_of(int64_t base, vtime t)
{
    return (struct timespec){base + t / VTIME_S, t % VTIME_S / VTIME_NS};
}

static struct timeval timeval_of(int64_t base, vtime t)
{
    return (struct timeval){base + t / VTIME_S, t % VTIME_S / VTIME_US};
}

VP_EXPORT int clock_gettime(clockid_t id, struct timespec *out)
{
    struct vp_rank *f = vp_current();

    if (!f)
        return REAL(clock_gettime)(id, out);
    int64_t base = libc_clock_base(id);
    if (base == LIBC_CLOCK_BAD) {
        errno = EINVAL;
        return -1;
    }
    *out = timespec_of(base, vp_hooks->now(f));
    return 0;
}

VP_EXPORT int clock_getres(clockid_t id, struct timespec *out)
{
    if (!vp_current())
        return REAL(clock_getres)(id, out);
    if (libc_clock_base(id) == LIBC_CLOCK_BAD) {
        errno = EINVAL;
        return -1;
    }
    if (out)
        *out = (struct timespec){0, 1};
    return 0;
}

VP_EXPORT int clock_settime(clockid_t id, const struct timespec *value)
{
    if (!vp_current())
        return REAL(clock_settime)(id, value);
    errno = EPERM;
    return -1;
}

VP_EXPORT int clock_getcpuclockid(pid_t pid, clockid_t *out)
{
    struct vp_rank *f = vp_current();

    if (!f)
        return REAL(clock_getcpuclockid)(pid, out);
    if (pid != 0 && pid != libc_pid(f))
        return ESRCH;
    *out = CLOCK_PROCESS_CPUTIME_ID;
    return 0;
}

VP_EXPORT int gettimeofday(struct timeval *restrict out, void *restrict zone)
{
    struct vp_rank *f = vp_current();

    if (!f)
        return REAL(gettimeofday)(out, zone);
    if (zone)
        *(struct timezone *)zone = (struct timezone){0, 0};
    struct timeval *to = out;
    __asm__("" : "+r"(to)); /* glibc accepts NULL, though its header tells the compiler otherwise */
    if (to)
        *to = timeval_of(vp_epoch, vp_hooks->now(f));
    return 0;
}
ALIAS(__gettimeofday, gettimeofday);

VP_EXPORT time_t time(time_t *out)
{
    struct vp_rank *f = vp_current();

    if (!f)
        return REAL(time)(out);
    time_t seconds = vp_epoch + vp_hooks->now(f) / VTIME_S;
    if (out)
        *out = seconds;
    return seconds;
}

VP_EXPORT clock_t clock(void)
{
    struct vp_rank *f = vp_current();

    if (!f)
        return REAL(clock)();
    return vp_hooks->now(f) / (VTIME_S / CLOCKS_PER_SEC);
}

VP_EXPORT clock_t times(struct tms *out)
{
    struct vp_rank *f = vp_current();

    if (!f)
        return REAL(times)(out);
    clock_t ticks = vp_hooks->now(f) / TICK;
    if (out)
        *out = (struct tms){.tms_utime = ticks};
    return LIBC_UPTIME * 100 + ticks;
}

/* Only the times are virtual. The memory is that of the process, and the rest is 0. */
VP_EXPORT int getrusage(__rusage_who_t who, struct rusage *out)
{
    struct vp_rank *f = vp_current();

    if (!f)
        return REAL(getrusage)(who, out);
    if (REAL(getrusage)(who, out) != 0)
        return -1;
    long resident = out->ru_maxrss;
    *out = (struct rusage){.ru_maxrss = resident};
    if ((int)who != (int)RUSAGE_CHILDREN)
        out->ru_utime = timeval_of(0, vp_hooks->now(f));
    return 0;
}

VP_EXPORT int timespec_get(struct timespec *out, int base)
{
    struct vp_rank *f = vp_current();

    if (!f)
        return REAL(timespec_get)(out, base);
    if (base != TIME_UTC)
        return 0;
    *out = timespec_of(vp_epoch, vp_hooks->now(f));
    return base;
}
