/*
 * oncpu.h - how long a stretch of code really ran: time in which the thread had no processor, because the
 * computer was busy with something else, is left out.
 *
 * Ticks (base/ticks.h) are cheap to read but go on while the thread is switched out; the system's clock of
 * what a thread ran does not, but takes a system call. So stretches are measured in ticks, and the other
 * clock is read only where something came in between. The system itself says so, by way of restartable
 * sequences (rseq, registered by glibc 2.35 and later for each thread): a thread that is switched out,
 * moved or interrupted finds the pointer to its sequence cleared. A pointer to a sequence of code that
 * nobody runs is all that is needed; as long as it is there, the thread was not interrupted.
 *
 *     oncpu_init(&o, ONCPU_THREAD);
 *     oncpu_begin(&o);  start = ticks_now();  ...  ran = oncpu_end(&o, ticks_now() - start);
 *
 * Where there is no such pointer - another libc, a program that registers sequences itself, several threads -
 * stretches that are too short to be worth a system call are believed, and others are compared.
 *
 * Needs nothing else of Orrery but ticks.h.
 */
#ifndef BASE_ONCPU_H
#define BASE_ONCPU_H

#include <stddef.h>
#include <stdint.h>

/* Whose time counts. */
enum oncpu_of {
    ONCPU_THREAD, /* the thread that calls */
    ONCPU_PROCESS, /* all threads of the process together: left out is when none of them ran. Any of them
                    * may begin and end stretches, one at a time. */
};

/* Both clocks at one moment. */
struct oncpu_time {
    uint64_t ticks;
    int64_t ns; /* run until then */
};

struct oncpu {
    void (*read)(struct oncpu_time *); /* NULL: nothing is left out */
    ptrdiff_t
        pointer; /* where the thread's pointer is, from where its thread-local data is; 0: nowhere */
    double rate;            /* ticks in a nanosecond */
    struct oncpu_time last; /* when the clocks were last compared; ticks 0: never */
    uint32_t late;          /* stretches since then that began after an interruption */
};

/* The sequence that nobody runs. */
extern const char oncpu_nowhere[] __attribute__((visibility("hidden")));

void oncpu_init(struct oncpu *, enum oncpu_of);

/* Has the thread run without interruption since the clocks were compared? 0: that is not known. */
static inline int oncpu_is_whole(const struct oncpu *o)
{
    const char *own = __builtin_thread_pointer();

    return *(const volatile uint64_t *)(own + o->pointer) == (uintptr_t)oncpu_nowhere;
}

/* A stretch begins: read ticks after it. */
void oncpu_begin_late(struct oncpu *);
static inline void oncpu_begin(struct oncpu *o)
{
    if (__builtin_expect(!oncpu_is_whole(o), 0))
        oncpu_begin_late(o);
}

/* A stretch of so many ticks is over; returns how many of them it ran. */
uint64_t oncpu_end_broken(struct oncpu *, uint64_t ticks);
static inline uint64_t oncpu_end(struct oncpu *o, uint64_t ticks)
{
    return __builtin_expect(oncpu_is_whole(o), 1) ? ticks : oncpu_end_broken(o, ticks);
}

#endif
