/*
 * vtime.h - virtual time: a signed 64-bit count of picoseconds.
 *
 * Times are non-negative. VTIME_LIMIT (2^62 ps, about 53 days) is the end of time: every sum
 * and product here saturates at it, so a caller detects overflow by comparing with it once.
 * Plain + is safe only while one operand is below VTIME_LIMIT. VTIME_NEVER lies above all times
 * and marks "no time"; vtime_add turns it into VTIME_LIMIT.
 *
 * No function here fails, allocates or switches.
 */
#ifndef BASE_VTIME_H
#define BASE_VTIME_H

#include <stdint.h>

typedef int64_t vtime;

#define VTIME_PS ((vtime)1)
#define VTIME_NS ((vtime)1000)
#define VTIME_US ((vtime)1000000)
#define VTIME_MS ((vtime)1000000000)
#define VTIME_S ((vtime)1000000000000)

#define VTIME_NEVER INT64_MAX
#define VTIME_LIMIT ((vtime)1 << 62)

/* The time in seconds, rounded to the nearest double. */
static inline double vtime_to_seconds(vtime t)
{
    return (double)t / 1e12;
}

/* A count of picoseconds as a time: rounded to nearest, NaN and negatives to 0, saturating. */
static inline vtime vtime_from_ps_double(double ps)
{
    if (!(ps > 0))
        return 0;
    if (ps >= (double)VTIME_LIMIT)
        return VTIME_LIMIT;
    /* Above 2^52 a double has no fraction, and adding 0.5 could round up by one. */
    return ps < 4503599627370496.0 ? (vtime)(ps + 0.5) : (vtime)ps;
}

/* Seconds as a time: rounded to nearest, NaN and negatives to 0, saturating at VTIME_LIMIT. */
static inline vtime vtime_from_seconds(double seconds)
{
    return vtime_from_ps_double(seconds * 1e12);
}

/* a + b for non-negative a and b, saturating at VTIME_LIMIT. */
static inline vtime vtime_add(vtime a, vtime b)
{
    uint64_t sum = (uint64_t)a + (uint64_t)b; /* at most 2^64 - 2: cannot wrap */
    return sum > (uint64_t)VTIME_LIMIT ? VTIME_LIMIT : (vtime)sum;
}

/* t * f, rounded to nearest, saturating; 1.0 is exact for every t. */
static inline vtime vtime_scale(vtime t, double f)
{
    if (f == 1.0)
        return t > VTIME_LIMIT ? VTIME_LIMIT : t;
    return vtime_from_ps_double((double)t * f);
}

/* bytes * (q / 2^20) picoseconds, rounded to nearest in 128 bits, saturating at VTIME_LIMIT. */
static inline vtime vtime_mul_q(uint64_t bytes, uint64_t ps_per_byte_q20)
{
    unsigned __int128 product = (unsigned __int128)bytes * ps_per_byte_q20;
    product = (product + ((uint64_t)1 << 19)) >> 20;
    return product > (unsigned __int128)VTIME_LIMIT ? VTIME_LIMIT : (vtime)product;
}

#endif
