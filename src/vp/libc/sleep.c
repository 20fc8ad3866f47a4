/*
 * Sleeping, yielding and waiting without descriptors: virtual time passes, host time does not.
 *
 * select and poll with a descriptor are real and do not switch. For a fibre rank, timers that would
 * interrupt it are refused, and so is waiting for a signal that nobody can send. A rank that is a
 * process has real timers, which count host time. Time spans saturate at VTIME_LIMIT, the end of
 * time, which the hook reports.
 */
#include "vp/libc/clock.h"

#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/select.h>
#include <sys/time.h>
#include <threads.h>
#include <unistd.h>

#define ADVICE_SIGNAL "run it with --host process"
#define ADVICE "run it with --host process, where the time is that of the host"

/* Seconds and nanoseconds as a span of time; negative seconds allowed for differences. */
static vtime span_of(int64_t seconds, int64_t ns)
{
    vtime t;

    if (__builtin_mul_overflow(seconds, VTIME_S, &t) ||
        __builtin_add_overflow(t, ns * VTIME_NS, &t) || t > VTIME_LIMIT)
        return seconds < 0 ? 0 : VTIME_LIMIT;
    return t < 0 ? 0 : t;
}

static int is_valid(const struct timespec *t)
{
    return t->tv_sec >= 0 && t->tv_nsec >= 0 && t->tv_nsec < 1000000000;
}

static int refuse(const char *what, const char *advice)
{
    vp_refuse(what, advice);
    errno = ENOTSUP;
    return -1;
}

/* ---- sleep ---- */

VP_EXPORT int nanosleep(const struct timespec *span, struct timespec *left)
{
    struct vp_rank *f = vp_current();

    if (!f)
        return REAL(nanosleep)(span, left);
    if (!is_valid(span)) {
        errno = EINVAL;
        return -1;
    }
    vp_hooks->sleep(f, span_of(span->tv_sec, span->tv_nsec));
    return 0;
}
ALIAS(__nanosleep, nanosleep);

VP_EXPORT int clock_nanosleep(clockid_t id, int flags, const struct timespec *t,
                              struct timespec *left)
{
    struct vp_rank *f = vp_current();

    if (!f)
        return REAL(clock_nanosleep)(id, flags, t, left);
    int64_t base = libc_clock_base(id);
    if (base == LIBC_CLOCK_BAD || !is_valid(t))
        return EINVAL;
    if (flags & TIMER_ABSTIME) {
        vtime until = span_of(t->tv_sec - base, t->tv_nsec), now = vp_hooks->now(f);
        if (until > now)
            vp_hooks->sleep(f, until - now);
    } else {
        vp_hooks->sleep(f, span_of(t->tv_sec, t->tv_nsec));
    }
    return 0;
}

VP_EXPORT int usleep(__useconds_t us)
{
    struct vp_rank *f = vp_current();

    if (!f)
        return REAL(usleep)(us);
    vp_hooks->sleep(f, (vtime)us * VTIME_US);
    return 0;
}

VP_EXPORT unsigned sleep(unsigned seconds)
{
    struct vp_rank *f = vp_current();

    if (!f)
        return REAL(sleep)(seconds);
    vp_hooks->sleep(f, span_of(seconds, 0));
    return 0;
}

VP_EXPORT int thrd_sleep(const struct timespec *span, struct timespec *left)
{
    if (!vp_current())
        return REAL(thrd_sleep)(span, left);
    return nanosleep(span, left) == 0 ? 0 : -2;
}

/* ---- yield ---- */

VP_EXPORT int sched_yield(void)
{
    struct vp_rank *f = vp_current();

    if (!f)
        return REAL(sched_yield)();
    vp_hooks->yield(f);
    return 0;
}
ALIAS(__sched_yield, sched_yield);
ALIAS(pthread_yield, sched_yield);

VP_EXPORT void thrd_yield(void)
{
    sched_yield();
}

/* ---- waiting without descriptors ---- */

VP_EXPORT int select(int n, fd_set *r, fd_set *w, fd_set *x, struct timeval *timeout)
{
    struct vp_rank *f = vp_current();

    if (!f || (n > 0 && (r || w || x)))
        return REAL(select)(n, r, w, x, timeout);
    if (n < 0 || (timeout && (timeout->tv_sec < 0 || timeout->tv_usec < 0))) {
        errno = EINVAL;
        return -1;
    }
    if (!timeout)
        return vp_current_sharing() ? refuse("select() on nothing", ADVICE_SIGNAL)
                                    : REAL(select)(n, r, w, x, timeout);
    vp_hooks->sleep(f, vtime_add(span_of(timeout->tv_sec, 0), timeout->tv_usec * VTIME_US));
    *timeout = (struct timeval){0, 0};
    return 0;
}
ALIAS(__select, select);

VP_EXPORT int pselect(int n, fd_set *r, fd_set *w, fd_set *x, const struct timespec *timeout,
                      const sigset_t *mask)
{
    struct vp_rank *f = vp_current();

    if (!f || (n > 0 && (r || w || x)))
        return REAL(pselect)(n, r, w, x, timeout, mask);
    if (!timeout)
        return vp_current_sharing() ? refuse("pselect() on nothing", ADVICE_SIGNAL)
                                    : REAL(pselect)(n, r, w, x, timeout, mask);
    return nanosleep(timeout, NULL);
}

VP_EXPORT int poll(struct pollfd *fds, nfds_t n, int timeout)
{
    struct vp_rank *f = vp_current();

    if (!f || n > 0)
        return REAL(poll)(fds, n, timeout);
    if (timeout < 0)
        return vp_current_sharing() ? refuse("poll() on nothing", ADVICE_SIGNAL)
                                    : REAL(poll)(fds, n, timeout);
    vp_hooks->sleep(f, timeout * VTIME_MS);
    return 0;
}
ALIAS(__poll, poll);

VP_EXPORT int ppoll(struct pollfd *fds, nfds_t n, const struct timespec *timeout,
                    const sigset_t *mask)
{
    if (!vp_current() || n > 0)
        return REAL(ppoll)(fds, n, timeout, mask);
    if (!timeout)
        return vp_current_sharing() ? refuse("ppoll() on nothing", ADVICE_SIGNAL)
                                    : REAL(ppoll)(fds, n, timeout, mask);
    return nanosleep(timeout, NULL);
}

/* The checked form of poll, which fortified programs call. */
int __poll_chk(struct pollfd *, nfds_t, int, size_t);
VP_EXPORT int __poll_chk(struct pollfd *fds, nfds_t n, int timeout, size_t size)
{
    if (!vp_current() || n > 0)
        return REAL(__poll_chk)(fds, n, timeout, size);
    return poll(fds, n, timeout);
}

/* ---- refused ---- */

VP_EXPORT int pause(void)
{
    return vp_current_sharing() ? refuse("pause()", ADVICE_SIGNAL) : REAL(pause)();
}

VP_EXPORT int sigsuspend(const sigset_t *mask)
{
    return vp_current_sharing() ? refuse("sigsuspend()", ADVICE_SIGNAL) : REAL(sigsuspend)(mask);
}

VP_EXPORT unsigned alarm(unsigned seconds)
{
    if (!vp_current_sharing())
        return REAL(alarm)(seconds);
    if (seconds > 0) /* alarm(0) cancels, and there is nothing to cancel */
        refuse("alarm()", ADVICE);
    return 0;
}

VP_EXPORT __useconds_t ualarm(__useconds_t first, __useconds_t interval)
{
    if (!vp_current_sharing())
        return REAL(ualarm)(first, interval);
    if (first > 0)
        refuse("ualarm()", ADVICE);
    return 0;
}

VP_EXPORT int setitimer(__itimer_which_t which, const struct itimerval *restrict value,
                        struct itimerval *restrict old)
{
    if (!vp_current_sharing())
        return REAL(setitimer)(which, value, old);
    return refuse("setitimer()", ADVICE);
}

VP_EXPORT int timer_create(clockid_t id, struct sigevent *restrict event, timer_t *restrict out)
{
    if (!vp_current_sharing())
        return REAL(timer_create)(id, event, out);
    return refuse("timer_create()", ADVICE);
}
