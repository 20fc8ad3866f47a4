/*
 * guest_threads.c - threads of the program: who is in the library, and those that call MPI at the
 * same time.
 *
 * With MPI_THREAD_MULTIPLE each thread has a stream of records of its own, and a clock of what it
 * has computed. The simulator must know when threads begin and end, as they compute at the same
 * time: functions of libc that start threads and wait for their end are replaced here.
 */
#define _GNU_SOURCE 1
#include <dlfcn.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/mem.h"
#include "hybrid/guest.h"

static _Thread_local char thread; /* its address */
static _Thread_local struct guest_thread *own;
static pthread_key_t ending;

static struct guest_thread first;
struct guest guest = {.lock = PTHREAD_MUTEX_INITIALIZER, .me = &first, .live = 1};

/* ---- in the library ---- */

struct guest_thread *guest_own(void)
{
    return guest.is_threaded ? own : &first;
}

int guest_am_inside(void)
{
    if (guest.is_threaded)
        return own && own->is_inside;
    return atomic_load_explicit(&guest.inside, memory_order_relaxed) == &thread;
}

int guest_is_first(int is_this)
{
    static const void *first_one;
    if (is_this)
        first_one = &thread;
    return first_one == &thread;
}

/* One that has ended leaves its place to the next. */
static struct guest_thread *make(void)
{
    struct guest_thread *t = guest.threads;
    while (t && t->is_used)
        t = t->next;
    if (!t) {
        t = mem_zalloc(sizeof *t);
        t->lane.recorder = mem_zalloc(sizeof *t->lane.recorder);
        recorder_lane_init(&native.rank, t->lane.recorder);
        t->number = t->lane.recorder->stream.thread;
        t->next = guest.threads;
        guest.threads = t;
    }
    t->is_used = 1;
    t->generation++;
    return t;
}

static struct guest_thread *make_own(void)
{
    struct guest_thread *t = make();
    guest.me = own = t;
    t->tid = (pid_t)syscall(SYS_gettid);
    guest.live++; /* it was not started by pthread_create */
    pthread_setspecific(ending, t);
    guest_clock_start();
    return t;
}

int guest_try_enter(void)
{
    const void *nobody = NULL;
    if (!guest.is_threaded)
        return atomic_compare_exchange_strong_explicit(&guest.inside, &nobody, &thread,
                                                       memory_order_acquire, memory_order_relaxed);
    atomic_fetch_add(&guest.arriving, 1);
    pthread_mutex_lock(&guest.lock);
    atomic_fetch_sub(&guest.arriving, 1);
    if (!own)
        make_own();
    guest.me = own;
    own->is_inside = 1;
    return 1;
}

void guest_go_out(void)
{
    if (!guest.is_threaded) {
        atomic_store_explicit(&guest.inside, NULL, memory_order_release);
        return;
    }
    own->is_inside = 0;
    pthread_mutex_unlock(&guest.lock);
}

void guest_go(void)
{
    if (!guest.is_threaded)
        return;
    own->is_out = 1;
    pthread_mutex_unlock(&guest.lock);
}

void guest_come_back(void)
{
    if (!guest.is_threaded || !own->is_out)
        return;
    pthread_mutex_lock(&guest.lock);
    own->is_out = 0;
    guest.me = own;
}

/* ---- threads ---- */

void guest_count(int is_inside)
{
    struct guest_thread *me = guest.me;
    if (!guest.is_threaded || me->is_counted == is_inside)
        return;
    me->is_counted = (uint8_t)is_inside;
    guest.inside_count += is_inside ? 1 : UINT32_MAX;
    guest.serial++;
    if (is_inside)
        return;
    guest.rests = 0;
    guest_show_threads(0);
}

int guest_must_follow(void)
{
    return guest.is_threaded && guest.live > 1;
}

int guest_all_wait(void)
{
    return guest.inside_count && guest.inside_count + guest.joining >= guest.live;
}

/* ---- their end ---- */

static int is_watched(void)
{
    return guest.is_threaded && guest.is_open && !guest.is_over;
}

static void end(void *ended)
{
    struct guest_thread *t = ended;
    if (!guest.is_threaded || t->is_inside)
        return;
    guest_try_enter();
    guest_clock_stop();
    guest.live--;
    if (t->joiner) { /* it goes on */
        *t->joiner = 0;
        guest.joining--;
    }
    t->joiner = NULL;
    if (is_watched())
        guest_say(HYBRID_ENDS, 0);
    t->is_used = 0;
    t->tid = 0;
    t->handle = 0;
    guest_go_out();
    own = NULL;
}

void guest_threads_begin(void)
{
    pthread_mutex_lock(&guest.lock);
    pthread_key_create(&ending, end);
    own = guest.threads = &first;
    first.is_used = first.is_inside = 1;
    first.tid = (pid_t)syscall(SYS_gettid);
    first.handle = pthread_self();
    guest.is_threaded = 1;
    atomic_store_explicit(&guest.inside, NULL, memory_order_release);
    pthread_setspecific(ending, own);
    guest_rest_begin();
}

/* ---- their beginning ---- */

struct start {
    void *(*run)(void *);
    void *arg;
    struct guest_thread *thread;
};

static void *run(void *given)
{
    struct start s = *(struct start *)given;
    mem_free(given);
    own = s.thread;
    guest_try_enter();
    own->tid = (pid_t)syscall(SYS_gettid);
    own->handle = pthread_self();
    pthread_setspecific(ending, own);
    guest_clock_start();
    guest_go_out();
    return s.run(s.arg);
}

/* The new thread begins where this one is. */
static struct guest_thread *announce(void)
{
    guest_try_enter();
    guest_clock_stop();
    struct guest_thread *t = make();
    t->is_clock_known = 0;
    guest.live++;
    guest_say(HYBRID_BEGINS, t->number);
    guest_clock_start();
    guest_go_out();
    return t;
}

/* handle: of the new thread, which may have ended already; 0: there is none. */
static void settle(struct guest_thread *t, uint32_t generation, pthread_t handle)
{
    guest_try_enter();
    if (!handle) {
        t->is_used = 0;
        guest.live--;
    } else if (t->is_used && t->generation == generation) {
        t->handle = handle;
    }
    guest_go_out();
}

typedef int create(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);

ORR_EXPORT int pthread_create(pthread_t *restrict to, const pthread_attr_t *restrict attr,
                              void *(*function)(void *), void *restrict arg)
{
    static create *real;
    if (!real)
        real = (create *)dlsym(RTLD_NEXT, "pthread_create");
    if (!is_watched() || guest_am_inside())
        return real(to, attr, function, arg);
    struct start *s = mem_alloc(sizeof *s);
    *s = (struct start){function, arg, announce()};
    struct guest_thread *t = s->thread;
    uint32_t generation = t->generation;
    int rc = real(to, attr, run, s);
    if (rc != 0)
        mem_free(s);
    settle(t, generation, rc == 0 ? *to : 0);
    return rc;
}

/* ---- waiting for their end ---- */

static struct guest_thread *find(pthread_t handle)
{
    struct guest_thread *t = guest.threads;
    while (t && !(t->is_used && t->handle && pthread_equal(t->handle, handle)))
        t = t->next;
    return t;
}

/* is_counted: whether the end of the thread will be noticed. */
static void begin_join(pthread_t handle, int *is_counted)
{
    guest_try_enter();
    struct guest_thread *t = find(handle);
    *is_counted = t && !t->joiner;
    if (*is_counted) {
        t->joiner = is_counted;
        guest.joining++;
    }
    if (guest_all_wait() && !guest.rests)
        guest_say(HYBRID_RESTS, 0);
    guest_go_out();
}

static void end_join(const int *is_counted)
{
    guest_try_enter();
    guest.joining -= (uint32_t)*is_counted;
    guest_go_out();
}

ORR_EXPORT int pthread_join(pthread_t handle, void **result)
{
    static int (*real)(pthread_t, void **);
    int is_counted;
    if (!real)
        real = (int (*)(pthread_t, void **))dlsym(RTLD_NEXT, "pthread_join");
    if (!is_watched() || guest_am_inside())
        return real(handle, result);
    begin_join(handle, &is_counted);
    int rc = real(handle, result);
    end_join(&is_counted);
    return rc;
}
