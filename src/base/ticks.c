/*
 * ticks.c - measures the rate of the processor's tick counter.
 */
#include "base/ticks.h"

#include <time.h>

#define CALIBRATE_NS 2000000 /* length of the comparison with the system's clock */
/* If two clocks are read within this many ticks, the thread was not interrupted in between. */
#define TOGETHER 10000
#define TRIES 8

static int64_t host_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC_RAW, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

uint64_t ticks_beside(int64_t (*clock)(void), int64_t *ns)
{
    uint64_t at = 0, nearest = UINT64_MAX;

    for (int i = 0; i < TRIES && nearest > TOGETHER; i++) {
        uint64_t before = ticks_now();
        int64_t t = clock();
        uint64_t gap = ticks_now() - before;

        if (gap < nearest) {
            nearest = gap;
            at = before + gap / 2;
            *ns = t;
        }
    }
    return at;
}

double ticks_per_ns(void)
{
    static double rate;
    /* Both are always set, but a compiler without link-time optimisation cannot know that. */
    int64_t t0 = 0, t1 = 0;
    uint64_t c0, c1;

    if (rate > 0)
        return rate;
    c0 = ticks_beside(host_ns, &t0);
    while (host_ns() - t0 < CALIBRATE_NS)
        ;
    c1 = ticks_beside(host_ns, &t1);
    rate = (double)(c1 - c0) / (double)(t1 - t0);
    return rate;
}
