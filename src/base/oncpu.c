/*
 * oncpu.c - measures how long code really ran (see oncpu.h).
 *
 * With the rseq pointer we know that the thread was not interrupted between the last comparison of
 * the clocks and the start of the stretch; otherwise the clocks are compared again at the start. So
 * all the time missing since then is missing from the stretch.
 *
 * Without the pointer, comparing at every start would take too long. Instead a stretch is limited
 * to the time that the thread ran since the last comparison, a few stretches ago. That never
 * discards too much, and what it wrongly counts is bounded by a few short stretches and the time
 * between them.
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

#define SHORT_NS 20000 /* without the pointer, shorter stretches are not checked */
#define PATIENCE 32    /* without the pointer, stretches until the clocks are compared again */
/* Missing time up to this is ignored: an interrupt, or the delay between reading two clocks. */
#define NOISE_NS 5000
/* One part in so many of the time run is ignored, too: that is how precisely the tick rate is
 * known. */
#define NOISE_PART 1024
#define TRIES 8 /* to read the clocks without interruption */

#ifdef RSEQ_SIG
#define SIGNATURE RSEQ_SIG
#else
#define SIGNATURE 0
#endif

/* struct rseq_cs (linux/rseq.h): version, flags, start, length, and the abort address, which must
 * follow the signature. */
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

/* Not through libc, whose clocks may be virtual. */
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

/* Reads both, so that an interruption from then on is noticed. The end of a system call is where
 * a thread is often switched out: the time until it continues must not count as missing from the
 * next stretch. */
static void read_both(const struct oncpu *o, struct oncpu_time *now)
{
    int tries = TRIES;

    do {
        point(o, oncpu_nowhere);
        o->read(now);
    } while (o->pointer && !oncpu_is_whole(o) && --tries);
}

static void compared(struct oncpu *o, const struct oncpu_time *now)
{
    o->last = *now;
    o->late = 0;
}

/* ---- the interface ---- */

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
        read_both(o, &now);
        compared(o, &now);
    } else {
        o->late++;
    }
}

/* Ticks of the stretch that ends at `end` in which the thread did not run, as far as that is
 * known. */
static double missing(const struct oncpu *o, uint64_t ticks, uint64_t end,
                      const struct oncpu_time *now)
{
    double ran = (double)(now->ns - o->last.ns) * o->rate, off;

    off = (double)(o->late ? ticks : end - o->last.ticks) - ran;
    return off > NOISE_NS * o->rate + ran / NOISE_PART ? off : 0;
}

uint64_t oncpu_end_broken(struct oncpu *o, uint64_t ticks, uint64_t end)
{
    struct oncpu_time now;
    double off = 0;

    if (!o->read)
        return ticks;
    if (!o->pointer && (double)ticks < SHORT_NS * o->rate)
        return ticks;
    read_both(o, &now);
    if (o->last.ticks)
        off = missing(o, ticks, end, &now);
    compared(o, &now);
    return off < (double)ticks ? ticks - (uint64_t)off : 0;
}
