/*
 * counter.h - hardware counters (perf_event_open) of one thread, in user mode only.
 */
#ifndef RUN_COUNTER_H
#define RUN_COUNTER_H

#include "base/err.h"

/* Opens a counter of the calling thread: instructions (also for an empty name), cycles, or
 * task-clock, nanoseconds counted by the system, which every machine has. Reading 8 bytes from *fd
 * gives the count. If there is none, the error says what to do. */
int run_counter_open(const char *name, int *fd, struct err *);

#endif
