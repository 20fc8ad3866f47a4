/*
 * memory.c - see memory.h.
 */
#include "run/memory.h"

#define RESERVE_MOST ((uint64_t)384 << 20)
#define RESERVE_PART 16 /* of little memory: a sixteenth */
#define SEVERAL 3       /* ranks besides the first */

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

int run_forecast_add(struct run_forecast *f, uint64_t ranks, uint64_t bytes, uint64_t total,
                     uint64_t *each, uint64_t *all)
{
    uint64_t rest;

    if (ranks > 0 && f->ranks == 0)
        *f = (struct run_forecast){ranks, bytes};
    if (f->ranks == 0 || ranks - f->ranks < SEVERAL || ranks >= total)
        return 0;
    *each = bytes > f->bytes ? (bytes - f->bytes) / (ranks - f->ranks) : 0;
    if (__builtin_mul_overflow(*each, total - f->ranks, &rest) ||
        __builtin_add_overflow(rest, f->bytes, all))
        *all = UINT64_MAX;
    return 1;
}
