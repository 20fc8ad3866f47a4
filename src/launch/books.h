/*
 * books.h - the pending output of several processes, in a memory file of their starter: a slot
 * (engine/output_ledger.h) for each worker on this machine. When all workers are gone, for whatever
 * reason, it still holds what they have not written.
 */
#ifndef LAUNCH_BOOKS_H
#define LAUNCH_BOOKS_H

#include <stdint.h>
#include <sys/types.h>

#include "run/run.h"

struct launch_books {
    int fd; /* -1: there are none */
    uint32_t slots;
    int *spills; /* per slot, the file of older output, or -1 */
};

/* Creates the file for that many workers, if the system allows it. */
void launch_books_make(struct launch_books *, uint32_t slots);
void launch_books_close(struct launch_books *);

/* The worker in that slot has such a file open. */
void launch_books_spill(struct launch_books *, uint32_t slot, pid_t worker, int fd);

/* All workers are gone: writes what is left, in order. */
void launch_books_show(const struct launch_books *, const struct run_options *);

#endif
