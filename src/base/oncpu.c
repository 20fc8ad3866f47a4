/*
 * oncpu.c - see oncpu.h.
 *
 * With a pointer, the thread was whole from the last comparison of the clocks until a stretch began, or they are
 * compared anew then. So all that is missing since is missing in the stretch.
 *
 * Without one, comparing at every beginning would take too long: a stretch ran for no longer than what was run
 * since the last comparison, which is a few stretches ago. That never leaves out too much, and what it lets
 * pass is bounded by a few short stretches and what was run between them.
 */
#include "base/oncpu.h"

#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/ticks.h"

#if defined(__has_include)
#if __has_include(<sys/rseq.h>)
#include <sys/rseq.h>
#endif
#endif

#define SHORT_NS 20000 /* without a pointer: a stretch that is believed, ... */
#define PATIENCE 32    /* ... and how many may begin before clocks are compared */
#define NOISE_NS \
    5000 /* missing time that says nothing: an interrupt, two clocks read one after the other */
#define NOISE_PART \
    1024 /* the same, as a part of what was run: the rate of ticks is known to about that */

#ifdef RSEQ_SIG
#define SIGNATURE RSEQ_SIG
#else
#define SIGNATURE 0
#endif

/* struct rseq_cs (linux/rseq.h): version, flags, start, length, and where to go if interrupted there, which has
 * to follow the signature. */
#define TEXT_OF(x) #x
#define TEXT(x) TEXT_OF(x)
__asm__(".pushsection .text.oncpu, \"ax\"\n"
        "1: .long 0\n"
        ".long " TEXT(SIGNATURE) "\n"
                                 "2: .long 0\n"
                                 ".popsection\n"
                                 ".pushsection .data.rel.ro, \"aw\"\n"
                                 ".balign 32\n"
                                 ".globl oncpu_nowhere\n"
                                 ".hidden oncpu_nowhere\n"
                                 "oncpu_nowhere: .long 0, 0\n"
                                 ".quad 1b, 1, 2b\n"
                                 ".popsection\n");

/* ---- the pointer ---- */

static ptrdiff_t find_pointer(void)
{
#ifdef RSEQ_SIG
    if (__rseq_size > 0)
        return __rseq_offset + (ptrdiff_t)offsetof(struct rseq, rseq_cs);
#endif
    return 0;
}

static void point(const struct oncpu *o, const void *sequence)
{
    char *own = __builtin_thread_pointer();

    if (o->pointer)
        *(volatile uint64_t *)(own + o->pointer) = (uintptr_t)sequence;
}

/* ---- the clocks ---- */

/* Not by way of libc, whose clocks may be virtual. */
static int64_t run_ns(clockid_t id)
{
    struct timespec t = {0};

    syscall(SYS_clock_gettime, id, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static int64_t thread_ns(void)
{
    return run_ns(CLOCK_THREAD_CPUTIME_ID);
}

static int64_t process_ns(void)
{
    return run_ns(CLOCK_PROCESS_CPUTIME_ID);
}

static void read_thread(struct oncpu_time *t)
{
    t->ticks = ticks_beside(thread_ns, &t->ns);
}

static void read_process(struct oncpu_time *t)
{
    t->ticks = ticks_beside(process_ns, &t->ns);
}

static void compared(struct oncpu *o, const struct oncpu_time *now)
{
    o->last = *now;
    o->late = 0;
}

/* ---- what callers see ---- */

void oncpu_init(struct oncpu *o, enum oncpu_of of)
{
    *o = (struct oncpu){.read = of == ONCPU_THREAD ? read_thread : read_process,
                        .pointer = of == ONCPU_THREAD ? find_pointer() : 0,
                        .rate = ticks_per_ns()};
    point(o, NULL);
}

void oncpu_begin_late(struct oncpu *o)
{
    struct oncpu_time now;

    if (!o->read)
        return;
    if (o->pointer || o->last.ticks == 0 || o->late >= PATIENCE) {
        o->read(&now);
        compared(o, &now);
        point(o, oncpu_nowhere);
    } else {
        o->late++;
    }
}

/* Ticks of the last stretch that are missing from what was run, as far as can be told. */
static double missing(const struct oncpu *o, uint64_t ticks, const struct oncpu_time *now)
{
    double ran = (double)(now->ns - o->last.ns) * o->rate, off;

    off = (double)(o->late ? ticks : now->ticks - o->last.ticks) - ran;
    return off > NOISE_NS * o->rate + ran / NOISE_PART ? off : 0;
}

uint64_t oncpu_end_broken(struct oncpu *o, uint64_t ticks)
{
    struct oncpu_time now;
    double off = 0;

    if (!o->read)
        return ticks;
    if (!o->pointer && (double)ticks < SHORT_NS * o->rate)
        return ticks;
    o->read(&now);
    if (o->last.ticks)
        off = missing(o, ticks, &now);
    compared(o, &now);
    point(o, oncpu_nowhere);
    return off < (double)ticks ? ticks - (uint64_t)off : 0;
}
