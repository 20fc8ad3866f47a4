/*
 * share.h - how many processes a run should have (--procs auto), and when to hint that more would
 * help.
 */
#ifndef RUN_SHARE_H
#define RUN_SHARE_H

#include <stdint.h>

#include "run/run.h"

/* Processors that this process may use. */
unsigned run_share_cores(void);

/* The number of processes for that many ranks, processors, and bytes of memory (0: unknown). */
uint32_t run_share_choose(uint64_t ranks, unsigned cores, uint64_t memory);

/* Shares processes between programs by their ranks: each gets at least one and at most one per
 * rank. procs: from `count` to all ranks. */
void run_share_apps(struct run_app *apps, uint32_t count, uint32_t procs);

/* Should the summary give a hint, if a run with one process took that many seconds with that many
 * idle processors, and --procs auto would choose `procs`? */
int run_share_is_hint(double seconds, double idle, uint32_t procs);

/* How many of those processors were idle during the last minute. */
double run_share_idle(unsigned cores);

#endif
