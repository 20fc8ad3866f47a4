/*
 * oncpu.h - measures how long a stretch of code really ran, without the time in which the thread
 * had no processor because the computer was busy with something else.
 *
 * Ticks (base/ticks.h) are cheap to read, but continue while the thread is switched out. The
 * thread's CPU clock does not, but reading it takes a system call. So stretches are measured in
 * ticks, and the CPU clock is read only after an interruption. The kernel reports interruptions
 * through restartable sequences (rseq, registered by glibc 2.35 and later for each thread): when a
 * thread is switched out, migrated or interrupted, the kernel clears the pointer to its sequence.
 * We set the pointer to a sequence of code that never runs; as long as it is there, the thread was
 * not interrupted.
 *
 *     oncpu_init(&o, ONCPU_THREAD);
 *     oncpu_begin(&o);  start = ticks_now();  ...  end = ticks_now();  ran = end - start;
 *     if (!oncpu_is_whole(&o))
 *         ran = oncpu_end_broken(&o, ran, end);
 *
 * Where there is no such pointer - another libc, a program that registers sequences itself, several
 * threads - short stretches are taken as measured, and longer ones are compared with the CPU clock.
 *
 * Uses nothing else of Orrery but ticks.h.
 */
#ifndef BASE_ONCPU_H
#define BASE_ONCPU_H

#include <stddef.h>
#include <stdint.h>

/* Whose running time counts. */
enum oncpu_of {
    ONCPU_THREAD, /* the calling thread */
    /* all threads together: time in which any of them ran counts. Any thread may begin and end
     * stretches, one at a time. */
    ONCPU_PROCESS,
};

/* Both clocks at one moment. */
struct oncpu_time {
    uint64_t ticks;
    int64_t ns; /* CPU time until then */
};

struct oncpu {
    void (*read)(struct oncpu_time *); /* NULL: all ticks count */
    /* where the thread's pointer is, from where its thread-local data is; 0: nowhere */
    ptrdiff_t pointer;
    double rate;            /* ticks in a nanosecond */
    struct oncpu_time last; /* the last comparison of the clocks; ticks 0: never */
    uint32_t late;          /* stretches since then that began after an interruption */
};

/* The sequence that never runs. */
extern const char oncpu_nowhere[] __attribute__((visibility("hidden")));

void oncpu_init(struct oncpu *, enum oncpu_of);

/* Has the thread run without interruption since the clocks were compared? 0: no, or unknown. */
static inline int oncpu_is_whole(const struct oncpu *o)
{
    const char *own = __builtin_thread_pointer();

    return *(const volatile uint64_t *)(own + o->pointer) == (uintptr_t)oncpu_nowhere;
}

/* Begins a stretch: read the ticks after it. */
void oncpu_begin_late(struct oncpu *);
static inline void oncpu_begin(struct oncpu *o)
{
    if (__builtin_expect(!oncpu_is_whole(o), 0))
        oncpu_begin_late(o);
}

/* Ends a stretch of that many ticks, until `end`, that was not whole; returns in how many of them
 * the thread ran. */
uint64_t oncpu_end_broken(struct oncpu *, uint64_t ticks, uint64_t end);

#endif
