/*
 * Threads of a rank that is a process: counts them, and knows which wait in a join.
 *
 * A thread that joins another is idle until that one ends. The ending thread, not the joining one,
 * marks it as no longer idle: so there is no moment at which all threads count as idle while one is
 * about to run. Other kinds of waiting are known only to the system (vp/thread_sleep.c).
 *
 * This state is private to each process.
 */
#include "vp/libc/libc.h"

#include <pthread.h>
#include <stdlib.h>
#include <threads.h>

#include "base/sys.h"

#define ADVICE "run it with --host process"

/* A thread from its creation to its end. */
struct vp_thread {
    struct vp_thread *next;
    pthread_t id;
    int joined;             /* a thread waits for it to end */
    void *(*start)(void *); /* of pthread_create, or ... */
    thrd_start_t c_start;   /* ... of thrd_create */
    void *arg;
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

static void end(void *ended)
{
    struct vp_thread *t = ended, **at = &vp_private.known;

    lock();
    while (*at != t)
        at = &(*at)->next;
    *at = t->next;
    vp_private.threads--;
    vp_private.thread_changes++;
    vp_private.joining -= (uint32_t)t->joined;
    unlock();
    free(t);
}

static void *thread_main(void *given)
{
    struct vp_thread *t = given;
    void *result;

    pthread_cleanup_push(end, t);
    result = t->start ? t->start(t->arg) : (void *)(intptr_t)t->c_start(t->arg);
    pthread_cleanup_pop(1);
    return result;
}

static int start_thread(pthread_t *thread, const pthread_attr_t *attributes, struct vp_thread what)
{
    struct vp_thread *t = malloc(sizeof *t); /* the process's own */
    int rc;

    if (!t)
        return EAGAIN;
    *t = what;
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

/* ---- joining ---- */

static struct vp_thread *find(pthread_t id)
{
    struct vp_thread *t = vp_private.known;

    while (t && !pthread_equal(t->id, id))
        t = t->next;
    return t;
}

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
