/*
 * share.h - how many processes a run should have (--procs auto), and when to say that more would help.
 */
#ifndef RUN_SHARE_H
#define RUN_SHARE_H

#include <stdint.h>

/* Processors that this process may use. */
unsigned run_share_cores(void);

/* The number of processes for so many ranks, processors, and bytes of memory (0: not known). */
uint32_t run_share_choose(uint64_t ranks, unsigned cores, uint64_t memory);

/* Is it worth a hint that a run of one process took so many seconds, when so many processors were idle
 * and --procs auto would choose `procs`? */
int run_share_is_hint(double seconds, double idle, uint32_t procs);

/* Processors of those that nobody used during the last minute. */
double run_share_idle(unsigned cores);

#endif
