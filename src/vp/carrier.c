/*
 * carrier.c - runs threads of a rank on any of its carriers (see carrier.h).
 *
 * An idle carrier runs on a small stack of its own, in the block of memory that also holds its
 * state. It has no thread-local data - that of the thread which it ran last may be gone - so its
 * code uses none, and all signals are blocked:
 *
 *     vp_thread_park:    thread's stack -> idle stack; the lock is released there
 *     vp_thread_resume:  idle stack -> thread's stack
 *     vp_thread_switch:  thread's stack -> other thread's stack; the lock is kept
 *
 * This state is private to each process.
 */
#include "vp/carrier.h"

#include <signal.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/prctl.h>

#include "base/sys.h"

#if defined(__has_include)
#if __has_include(<sys/rseq.h>)
#include <sys/rseq.h>
#endif
#endif

#define BLOCK ((size_t)64 << 10) /* of a carrier, and its alignment */
#define WATCH_NS 5000000         /* how often the watching carrier looks */
#define MASK_BYTES 8             /* of signals, for the system */
#define RSEQ_LEAST 32            /* bytes that libc registers at least */

void vp_switch(void **save, void *load);
void *vp_switch_prepare(void *top, void (*entry)(void));

/* Of <linux/futex.h>, without its pointers to user space. */
struct robust {
    void *first;
    long offset;
    void *pending;
};

/* At the low end of its block; the idle stack is above. */
struct vp_carrier {
    struct vp_carrier *next; /* in the list of idle ones */
    long tid;
    void *idle;       /* stack pointer of the idle stack, while a thread runs */
    plain_word awake; /* it was given a thread, `given` */
    struct vp_parked *given;
    plain_word *ring;     /* what it wakes when it becomes idle, or NULL */
    vp_watch *watch;      /* what it calls now and then while it is idle, or NULL */
    int32_t tid_word;     /* what the system clears if the carrier ends without a thread */
    struct robust robust; /* no mutexes */
};

__thread int vp_thread_depth;
static __thread struct vp_seat *own_seat; /* NULL: the thread is never parked */
static __thread long own_tid;             /* number of its carrier then; 0: unknown */

/* ---- thread-local data ---- */

#if defined(__x86_64__)
#ifndef HWCAP2_FSGSBASE
#define HWCAP2_FSGSBASE 2
#endif

static int can_set_tls(void)
{
    return (getauxval(AT_HWCAP2) & HWCAP2_FSGSBASE) != 0;
}

static void *get_tls(void)
{
    void *tls;

    __asm__ volatile("rdfsbase %0" : "=r"(tls));
    return tls;
}

static void set_tls(void *tls)
{
    __asm__ volatile("wrfsbase %0" : : "r"(tls) : "memory");
}
#else
static int can_set_tls(void)
{
    return 0;
}

static void *get_tls(void)
{
    return NULL;
}

static void set_tls(void *tls)
{
    (void)tls;
}
#endif

/* ---- a thread of the system becomes a carrier ---- */

/* The system would write to the data of a thread that may have ended. */
static int leave_rseq(void)
{
#ifdef RSEQ_SIG
    char *own = (char *)__builtin_thread_pointer() + __rseq_offset;
    unsigned size = __rseq_size > RSEQ_LEAST ? __rseq_size : RSEQ_LEAST;

    return __rseq_size > 0 && syscall(SYS_rseq, own, size, RSEQ_FLAG_UNREGISTER, RSEQ_SIG) == 0;
#else
    return 0;
#endif
}

static struct vp_carrier *block_map(void)
{
    char *at = mmap(NULL, 2 * BLOCK, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    char *block;

    if (at == MAP_FAILED)
        return NULL;
    block = (char *)(((uintptr_t)at + BLOCK - 1) & ~(uintptr_t)(BLOCK - 1));
    if (block > at)
        munmap(at, (size_t)(block - at));
    munmap(block + BLOCK, (size_t)(at + BLOCK - block));
    return (struct vp_carrier *)block;
}

static void idle_main(void);

/* The system's thread no longer belongs to the calling thread, whose own it is. */
static int take_seat(struct vp_seat *s)
{
    struct vp_carrier *c;
    size_t size;

    if (!can_set_tls() || prctl(PR_GET_TID_ADDRESS, &s->tid) != 0 ||
        syscall(SYS_get_robust_list, 0, &s->robust, &size) != 0 || size != sizeof(struct robust))
        return 0;
    c = block_map();
    if (!c)
        return 0;
    if (!leave_rseq()) {
        munmap(c, BLOCK);
        return 0;
    }
    c->tid = s->first_tid = syscall(SYS_gettid);
    c->robust.first = &c->robust;
    c->idle = vp_switch_prepare((char *)c + BLOCK, idle_main);
    syscall(SYS_set_tid_address, &c->tid_word);
    syscall(SYS_set_robust_list, &c->robust, sizeof c->robust);
    s->carrier = c;
    return 1;
}

int vp_thread_may_park(void)
{
    if (!own_seat || vp_private.settled)
        return 0;
    if (own_seat->carrier || take_seat(own_seat))
        return 1;
    own_seat = NULL;
    return 0;
}

void vp_carrier_begin(struct vp_seat *s)
{
    own_seat = s;
}

void vp_carrier_end(void)
{
    struct vp_seat *s = own_seat;

    own_seat = NULL;
    if (!s || !s->carrier)
        return;
    syscall(SYS_set_tid_address, s->tid);
    syscall(SYS_set_robust_list, s->robust, sizeof(struct robust));
    own_tid = s->carrier->tid;
    munmap(s->carrier, BLOCK);
    s->carrier = NULL;
}

void vp_carrier_forked(void)
{
    own_seat = NULL;
    own_tid = 0;
}

long vp_carrier_tid(const struct vp_seat *s)
{
    return s->carrier ? s->carrier->tid : 0;
}

long vp_carrier_first_tid(void)
{
    return own_seat ? own_seat->first_tid : 0;
}

void vp_carrier_show(int present)
{
    const struct vp_seat *s = own_seat;

    if (s && s->carrier)
        *s->tid = (int32_t)(present ? s->carrier->tid : s->first_tid);
}

long vp_thread_tid(void)
{
    if (own_seat && own_seat->carrier)
        return own_seat->carrier->tid;
    if (!own_tid)
        own_tid = syscall(SYS_gettid);
    return own_tid;
}

/* ---- idle ---- */

static void push_idle(struct vp_carrier *c)
{
    struct vp_carrier **at = &vp_private.idle;

    while (c->watch && *at) /* it is the last to be given a thread */
        at = &(*at)->next;
    c->next = *at;
    *at = c;
}

static struct vp_carrier *pop_idle(void)
{
    struct vp_carrier *c = vp_private.idle;

    vp_private.idle = c->next;
    return c;
}

int vp_carrier_is_idle(long tid)
{
    const struct vp_carrier *c = vp_private.idle;

    while (c && c->tid != tid)
        c = c->next;
    return c != NULL;
}

/* Without thread-local data, on the idle stack. */
static void idle_main(void)
{
    struct vp_carrier *c = (struct vp_carrier *)((uintptr_t)__builtin_frame_address(0) &
                                                 ~(uintptr_t)(BLOCK - 1));

    for (;;) {
        plain_unlock(&vp_private.inside);
        if (c->ring)
            plain_wake(c->ring, 1);
        while (!atomic_load(&c->awake))
            if (!plain_sleep(&c->awake, 0, c->watch ? WATCH_NS : 0) && !c->watch())
                c->watch = NULL;
        set_tls(c->given->tls);
        vp_switch(&c->idle, c->given->sp);
    }
}

/* ---- threads ---- */

static void change_mask(int how, const uint64_t *mask, uint64_t *old)
{
    plain_call(SYS_rt_sigprocmask, how, (long)mask, (long)old, MASK_BYTES);
}

static struct vp_carrier *leave_seat(struct vp_parked *me)
{
    struct vp_carrier *c = own_seat->carrier;

    me->seat = own_seat;
    me->tls = get_tls();
    me->seat->carrier = NULL;
    me->seat->parked = me;
    me->is_parked = 1;
    return c;
}

static void give(struct vp_carrier *c, struct vp_parked *next, int locked)
{
    next->locked = locked;
    next->masked = !locked;
    next->seat->carrier = c;
    next->seat->parked = NULL;
    next->is_parked = 0;
}

/* The thread runs again. */
static void arrive(const struct vp_parked *me)
{
    if (me->masked)
        change_mask(SIG_SETMASK, &me->mask, NULL);
}

void vp_thread_switch(struct vp_parked *me, struct vp_parked *next)
{
    /* In between, all signals are blocked that one of them blocks. */
    change_mask(SIG_BLOCK, &next->mask, &me->mask);
    give(leave_seat(me), next, 1);
    next->masked = (me->mask & ~next->mask) != 0;
    set_tls(next->tls);
    vp_switch(&me->sp, next->sp);
    arrive(me);
}

void vp_thread_park(struct vp_parked *me, plain_word *ring, vp_watch *watch)
{
    static const uint64_t all = ~(uint64_t)0;
    struct vp_carrier *c = leave_seat(me);

    c->ring = ring;
    c->watch = watch;
    atomic_store(&c->awake, 0);
    push_idle(c);
    change_mask(SIG_SETMASK, &all, &me->mask);
    vp_switch(&me->sp, c->idle);
    arrive(me);
}

plain_word *vp_thread_resume(struct vp_parked *next)
{
    struct vp_carrier *c = pop_idle();

    c->given = next;
    give(c, next, 0);
    atomic_store(&c->awake, 1);
    return &c->awake;
}
