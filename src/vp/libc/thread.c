/*
 * Threads of a rank that is a process: counts them, and knows which wait in a join.
 *
 * A thread that joins another is idle until that one ends. The ending thread, not the joining one,
 * marks it as no longer idle: so there is no moment at which all threads count as idle while one is
 * about to run. Other kinds of waiting are known only to the system (vp/thread_sleep.c).
 *
 * Calls by which the system deals with one of its own threads are meant for the program's thread:
 * they find out which of the system's threads runs it (vp/carrier.h).
 *
 * This state is private to each process.
 */
#include "vp/libc/libc.h"

#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <threads.h>

#include "base/log.h"
#include "base/sys.h"
#include "vp/carrier.h"

#define ADVICE "run it with --host process"
#define NAP_NS 100000
#define TRIES 30000     /* at least 3 seconds */
#define TRIES_INSIDE 10 /* if the thread may have the lock itself */
#define SIGCANCEL 32    /* by which libc interrupts a thread that is cancelled */

/* A thread from its creation to its end. */
struct vp_thread {
    struct vp_thread *next;
    pthread_t id;
    int joined;             /* a thread waits for it to end */
    void *(*start)(void *); /* of pthread_create, or NULL */
    thrd_start_t c_start;   /* of thrd_create, or NULL */
    void *arg;
    int endings; /* rounds of destructors that have begun */
    struct vp_seat seat;
};

_Static_assert(sizeof(pthread_mutex_t) <= sizeof vp_private.threads_lock, "fits");

static void lock(void)
{
    pthread_mutex_lock(
        (pthread_mutex_t *)vp_private.threads_lock); /* all zero is PTHREAD_MUTEX_INITIALIZER */
}

static void unlock(void)
{
    pthread_mutex_unlock((pthread_mutex_t *)vp_private.threads_lock);
}

int vp_is_main_thread(void)
{
    return !vp_private.threaded || (pid_t)syscall(SYS_gettid) == sys_getpid();
}

uint32_t vp_thread_count(void)
{
    return __atomic_load_n(&vp_private.threads, __ATOMIC_ACQUIRE) + 1;
}

int vp_threads_idle(uint32_t others)
{
    int idle;

    lock();
    idle = others + vp_private.joining == vp_private.threads + 1;
    unlock();
    return idle;
}

/* ---- start and end ---- */

/* The last of the thread's destructors: others may still call MPI. */
static void end(void *ended)
{
    struct vp_thread *t = ended, **at = &vp_private.known;

    if (++t->endings < PTHREAD_DESTRUCTOR_ITERATIONS) {
        pthread_setspecific(vp_private.ending, t);
        return;
    }
    lock();
    vp_carrier_end();
    while (*at != t)
        at = &(*at)->next;
    *at = t->next;
    vp_private.threads--;
    vp_private.thread_changes++;
    vp_private.joining -= (uint32_t)t->joined;
    unlock();
    free(t);
}

/* Before the first thread starts. */
static void create_ending(void)
{
    if (!vp_private.threaded && pthread_key_create(&vp_private.ending, end) != 0)
        log_fatal("no key for thread-local data is left");
}

static void *thread_main(void *given)
{
    struct vp_thread *t = given;

    pthread_setspecific(vp_private.ending, t);
    vp_carrier_begin(&t->seat);
    return t->start ? t->start(t->arg) : (void *)(intptr_t)t->c_start(t->arg);
}

static int start_thread(pthread_t *thread, const pthread_attr_t *attributes, struct vp_thread what)
{
    struct vp_thread *t = malloc(sizeof *t); /* the process's own */
    int rc;

    if (!t)
        return EAGAIN;
    *t = what;
    create_ending();
    vp_hooks->threads(vp_current());
    vp_private.host->unpin();
    lock(); /* so that it does not end before it is listed */
    rc = REAL(pthread_create)(thread, attributes, thread_main, t);
    if (rc == 0) {
        t->id = *thread;
        t->next = vp_private.known;
        vp_private.known = t;
        vp_private.threads++;
        vp_private.thread_changes++;
    }
    unlock();
    if (rc != 0)
        free(t);
    return rc;
}

VP_EXPORT int pthread_create(pthread_t *restrict thread, const pthread_attr_t *restrict attributes,
                             void *(*start)(void *), void *restrict arg)
{
    if (!vp_current())
        return REAL(pthread_create)(thread, attributes, start, arg);
    if (!vp_current_sharing())
        return start_thread(thread, attributes, (struct vp_thread){.start = start, .arg = arg});
    vp_refuse("pthread_create()", ADVICE);
    errno = ENOTSUP;
    return ENOTSUP;
}

VP_EXPORT int thrd_create(thrd_t *thread, thrd_start_t start, void *arg)
{
    struct vp_thread what = {.c_start = start, .arg = arg};

    if (!vp_current())
        return REAL(thrd_create)(thread, start, arg);
    if (!vp_current_sharing()) /* a thrd_t is a pthread_t in this libc */
        return start_thread((pthread_t *)thread, NULL, what) == 0 ? thrd_success : thrd_error;
    vp_refuse("thrd_create()", ADVICE);
    errno = ENOTSUP;
    return thrd_error;
}

static struct vp_thread *find(pthread_t id)
{
    struct vp_thread *t = vp_private.known;

    while (t && !pthread_equal(t->id, id))
        t = t->next;
    return t;
}

/* ---- what the system knows by the number of its thread ---- */

static int try_lock(void)
{
    if (!plain_try_lock(&vp_private.inside))
        return 0;
    if (pthread_mutex_trylock((pthread_mutex_t *)vp_private.threads_lock) == 0)
        return 1;
    plain_unlock(&vp_private.inside);
    return 0;
}

/* Takes both locks, which are never kept for long; returns 0 if that does not succeed: the caller
 * is a signal handler, and its thread has one of them. */
static int try_long(void)
{
    const struct timespec nap = {.tv_nsec = NAP_NS};
    int tries = vp_thread_depth ? TRIES_INSIDE : TRIES;

    while (!try_lock()) {
        if (tries-- == 0)
            return 0;
        syscall(SYS_nanosleep, &nap, NULL);
    }
    return 1;
}

/* From now on threads stay on their carriers, each on one. */
static void settle(void)
{
    vp_private.settled = 1;
    for (struct vp_thread *t = vp_private.known; t; t = t->next)
        if (t->seat.parked)
            plain_wake(vp_thread_resume(t->seat.parked), 1);
}

/* Returns the number of the system's thread if it is not the one that libc knows; else 0. */
static long settle_and_find(pthread_t id)
{
    struct vp_thread *t;
    long tid;

    if (!vp_private.threaded || !try_long())
        return 0;
    if (!vp_private.settled)
        settle();
    t = find(id);
    tid = t ? vp_carrier_tid(&t->seat) : 0;
    unlock();
    plain_unlock(&vp_private.inside);
    return tid;
}

void libc_threads_settle(void)
{
    if (!vp_private.threaded)
        vp_private.settled = 1;
    else if (!vp_private.settled)
        settle_and_find(pthread_self());
}

int libc_pthread_kill(pthread_t thread, int sig)
{
    long tid = pthread_equal(thread, pthread_self()) ? 0 : settle_and_find(thread);

    if (!tid)
        return REAL(pthread_kill)(thread, sig);
    return (int)-plain_call(SYS_tgkill, sys_getpid(), tid, sig, 0);
}

VP_EXPORT int pthread_sigqueue(pthread_t thread, int sig, const union sigval value)
{
    long tid = settle_and_find(thread);
    siginfo_t info = {.si_signo = sig, .si_code = SI_QUEUE};

    if (!tid)
        return REAL(pthread_sigqueue)(thread, sig, value);
    info.si_pid = sys_getpid();
    info.si_uid = (uid_t)syscall(SYS_getuid);
    info.si_value = value;
    return (int)-plain_call(SYS_rt_tgsigqueueinfo, sys_getpid(), tid, sig, (long)&info);
}

VP_EXPORT int pthread_cancel(pthread_t thread)
{
    long tid = settle_and_find(thread);
    int rc = REAL(pthread_cancel)(thread); /* fails if the first carrier has ended */

    if (tid && plain_call(SYS_tgkill, sys_getpid(), tid, SIGCANCEL, 0) == 0)
        return 0;
    return rc;
}

VP_EXPORT int pthread_setaffinity_np(pthread_t thread, size_t size, const cpu_set_t *set)
{
    long tid = settle_and_find(thread);

    if (!tid)
        return REAL(pthread_setaffinity_np)(thread, size, set);
    return (int)-plain_call(SYS_sched_setaffinity, tid, (long)size, (long)set, 0);
}

VP_EXPORT int pthread_getaffinity_np(pthread_t thread, size_t size, cpu_set_t *set)
{
    long tid = settle_and_find(thread), got;

    if (!tid)
        return REAL(pthread_getaffinity_np)(thread, size, set);
    got = plain_call(SYS_sched_getaffinity, tid, (long)size, (long)set, 0);
    if (got < 0)
        return (int)-got;
    memset((char *)set + got, 0, size - (size_t)got);
    return 0;
}

/* libc asks the system by the number that it knows, which is right for the calling thread. */
#define WITH_NUMBER(thread, call)                        \
    int own = pthread_equal(thread, pthread_self()), rc; \
    if (own)                                             \
        vp_carrier_show(1);                              \
    rc = (call);                                         \
    if (own)                                             \
        vp_carrier_show(0);                              \
    return rc

VP_EXPORT int pthread_getattr_np(pthread_t thread, pthread_attr_t *attributes)
{
    WITH_NUMBER(thread, REAL(pthread_getattr_np)(thread, attributes));
}

VP_EXPORT int pthread_getschedparam(pthread_t thread, int *policy, struct sched_param *param)
{
    WITH_NUMBER(thread, REAL(pthread_getschedparam)(thread, policy, param));
}

VP_EXPORT int pthread_setschedparam(pthread_t thread, int policy, const struct sched_param *param)
{
    WITH_NUMBER(thread, REAL(pthread_setschedparam)(thread, policy, param));
}

VP_EXPORT int sched_setaffinity(pid_t pid, size_t size, const cpu_set_t *set)
{
    if (vp_private.threaded)
        libc_threads_settle();
    return REAL(sched_setaffinity)(pid, size, set);
}

/* The system knows the owner of such a mutex by the number of its thread. Priorities do not matter
 * to virtual time. */
VP_EXPORT int pthread_mutexattr_setprotocol(pthread_mutexattr_t *attributes, int protocol)
{
    if (protocol == PTHREAD_PRIO_INHERIT && vp_current())
        protocol = PTHREAD_PRIO_NONE;
    return REAL(pthread_mutexattr_setprotocol)(attributes, protocol);
}

/* The system releases those of a thread that ends, which it knows by the number. */
VP_EXPORT int pthread_mutexattr_setrobust(pthread_mutexattr_t *attributes, int robust)
{
    if (robust == PTHREAD_MUTEX_ROBUST && vp_current())
        libc_threads_settle();
    return REAL(pthread_mutexattr_setrobust)(attributes, robust);
}

#if defined(__x86_64__)
/* The number by which a program may identify its threads remains the same. */
VP_EXPORT long syscall(long number, ...)
{
    long result, given[6];
    va_list rest;

    if (number == SYS_gettid && vp_carrier_first_tid())
        return vp_carrier_first_tid();
    if (number == SYS_sched_setaffinity && vp_private.threaded)
        libc_threads_settle();
    va_start(rest, number);
    for (int i = 0; i < 6; i++)
        given[i] = va_arg(rest, long);
    va_end(rest);
    register long fourth __asm__("r10") = given[3], fifth __asm__("r8") = given[4],
                         sixth __asm__("r9") = given[5];
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "0"(number), "D"(given[0]), "S"(given[1]), "d"(given[2]), "r"(fourth),
                       "r"(fifth), "r"(sixth)
                     : "rcx", "r11", "memory");
    if (result < 0 && result > -4096) {
        errno = (int)-result;
        return -1;
    }
    return result;
}
#endif

/* ---- joining ---- */

/* The caller is idle until the thread has ended, unless it has ended already. */
static void count_joining(pthread_t id)
{
    struct vp_thread *t;

    lock();
    t = find(id);
    if (t && !t->joined && !pthread_equal(id, pthread_self())) {
        t->joined = 1;
        vp_private.joining++;
    }
    unlock();
}

/* The caller continues before that: it was cancelled, or the thread cannot be joined. */
static void uncount_joining(void *joined)
{
    struct vp_thread *t;

    lock();
    t = find(*(pthread_t *)joined);
    if (t && t->joined) {
        t->joined = 0;
        vp_private.joining--;
    }
    unlock();
}

VP_EXPORT int pthread_join(pthread_t thread, void **result)
{
    int rc;

    if (!vp_private.threaded)
        return REAL(pthread_join)(thread, result);
    count_joining(thread);
    pthread_cleanup_push(uncount_joining, &thread);
    rc = REAL(pthread_join)(thread, result);
    pthread_cleanup_pop(0);
    if (rc != 0)
        uncount_joining(&thread);
    return rc;
}

VP_EXPORT int thrd_join(thrd_t thread, int *result)
{
    void *value;

    if (!vp_private.threaded)
        return REAL(thrd_join)(thread, result);
    if (pthread_join((pthread_t)thread, &value) != 0)
        return thrd_error;
    if (result)
        *result = (int)(intptr_t)value;
    return thrd_success;
}
