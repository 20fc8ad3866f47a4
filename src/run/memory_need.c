/*
 * memory_need.c - forecasts the memory of a run, and decides when too little is left (see
 * memory_need.h).
 */
#include "run/memory_need.h"

#define RESERVE_MOST ((uint64_t)384 << 20)
#define RESERVE_PART 16 /* of little memory: a sixteenth */
#define SEVERAL 3       /* ranks besides the first */
#define LEAST_PART 128  /* of what is to be had */

uint64_t run_memory_reserve(uint64_t asked, uint64_t at_start)
{
    uint64_t part = at_start / RESERVE_PART;

    if (asked != RUN_MEMORY_AUTO)
        return asked;
    return part < RESERVE_MOST ? part : RESERVE_MOST;
}

int run_memory_is_short(uint64_t asked, uint64_t reserve, uint64_t left, uint64_t use)
{
    return left < reserve && (asked != RUN_MEMORY_AUTO || use > left);
}

uint64_t run_forecast_least(uint64_t bytes)
{
    return bytes / LEAST_PART;
}

int run_forecast_add(struct run_forecast *f, uint64_t ranks, uint64_t bytes, uint64_t least,
                     uint64_t total, uint64_t *each, uint64_t *all)
{
    uint64_t rest, more;

    if (ranks > 0 && f->ranks == 0)
        *f = (struct run_forecast){ranks, bytes};
    if (f->ranks == 0 || ranks - f->ranks < SEVERAL || ranks >= total)
        return 0;
    more = bytes > f->bytes ? bytes - f->bytes : 0;
    if (more < least)
        return 0;
    *each = more / (ranks - f->ranks);
    if (__builtin_mul_overflow(*each, total - f->ranks, &rest) ||
        __builtin_add_overflow(rest, f->bytes, all))
        *all = UINT64_MAX;
    return 1;
}
