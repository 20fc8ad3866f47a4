/*
 * ticks.h - the processor's tick counter: the cheapest way to measure host time.
 *
 * x86-64: the time stamp counter, constant and synchronised on every processor of the last fifteen
 * years; aarch64: the virtual counter.
 */
#ifndef BASE_TICKS_H
#define BASE_TICKS_H

#include <stdint.h>

static inline uint64_t ticks_now(void)
{
#if defined(__x86_64__)
    return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
    uint64_t t;

    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(t));
    return t;
#endif
}

/* Reads a clock, in nanoseconds, and returns the ticks at the same moment; retries if the thread
 * was interrupted in between. */
uint64_t ticks_beside(int64_t (*clock)(void), int64_t *ns);

/* Ticks per nanosecond; the first call compares with the system's clock for 2 ms. */
double ticks_per_ns(void);

#endif
