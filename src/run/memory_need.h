/*
 * memory_need.h - how much memory a run will need, and when it must end because too little is left.
 */
#ifndef RUN_MEMORY_NEED_H
#define RUN_MEMORY_NEED_H

#include <stdint.h>

#define RUN_MEMORY_AUTO UINT64_MAX /* of run_options.memory_reserve */

/* How many bytes must stay free, if that many were at the start: `asked`, unless that is
 * RUN_MEMORY_AUTO. 0: no limit. */
uint64_t run_memory_reserve(uint64_t asked, uint64_t at_start);

/* Must a run end that uses `use` bytes, while `left` are free? By itself it ends only if it uses
 * more than is left: otherwise the memory went to others, and its end would not help much. */
int run_memory_is_short(uint64_t asked, uint64_t reserve, uint64_t left, uint64_t use);

/* What ranks use that have started, for a forecast of what all will. All zero at the start. */
struct run_forecast {
    uint64_t ranks, bytes; /* of the first of them */
};

/* How much ranks of one process must use before a forecast may be made of it, with that many bytes
 * to be had: less may be memory that is taken once for many ranks. */
uint64_t run_forecast_least(uint64_t bytes);

/*
 * That many ranks have started and use that many bytes. Returns 1 if there were several after the
 * first, which may differ from all others, and they use at least `least`; then *each is what each
 * of those uses, and *all what `total` ranks will if the rest are like them.
 */
int run_forecast_add(struct run_forecast *, uint64_t ranks, uint64_t bytes, uint64_t least,
                     uint64_t total, uint64_t *each, uint64_t *all);

#endif
