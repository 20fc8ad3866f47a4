/*
 * reading.h - what it costs a program to read a clock.
 *
 * The longer a loop waits for a point in time, the longer its steps: otherwise, if computing takes
 * no time, a program that computes until a time is reached would iterate needlessly often. This
 * depends only on what the rank itself does.
 */
#ifndef RUN_READING_H
#define RUN_READING_H

#include "base/vtime.h"

/* A rank that reads clocks this often and does nothing else waits for a point in time. */
#define READINGS_FREE 256u
#define READINGS_STEP 32u    /* from there on, the cost doubles after this many readings */
#define READING_MAX VTIME_US /* the most that a reading costs */

/* One more reading; `readings` is how many there were since the rank did anything else, `cost` that
 * of the first ones. */
static inline vtime reading_charge(uint32_t *readings, vtime cost)
{
    vtime least = cost;

    if (*readings < READINGS_FREE + 64 * READINGS_STEP)
        ++*readings;
    if (__builtin_expect(*readings <= READINGS_FREE, 1))
        return cost;
    uint32_t doublings = 1 + (*readings - READINGS_FREE) / READINGS_STEP;
    while (doublings-- && cost < READING_MAX)
        cost *= 2;
    return cost < READING_MAX || cost == least ? cost : READING_MAX;
}

#endif
