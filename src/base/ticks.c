/*
 * ticks.c - how fast the processor's clock goes.
 */
#include "base/ticks.h"

#include <time.h>

#define CALIBRATE_NS 2000000 /* length of the comparison with the system's clock */

static int64_t host_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC_RAW, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

double ticks_per_ns(void)
{
    static double rate;
    int64_t t0, t1;
    uint64_t c0, c1;

    if (rate > 0)
        return rate;
    t0 = host_ns();
    c0 = ticks_now();
    do {
        t1 = host_ns();
        c1 = ticks_now();
    } while (t1 - t0 < CALIBRATE_NS);
    rate = (double)(c1 - c0) / (double)(t1 - t0);
    return rate;
}
