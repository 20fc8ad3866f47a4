/*
 * books.h - the pending output of several processes, in a memory file of their starter: a slot
 * (engine/output_ledger.h) for each worker on this machine. When all workers are gone, for whatever
 * reason, it still holds what they have not written.
 */
#ifndef CLI_BOOKS_H
#define CLI_BOOKS_H

#include <stdint.h>
#include <sys/types.h>

#include "run/run.h"

struct cli_books {
    int fd; /* -1: there are none */
    uint32_t slots;
    int *spills; /* per slot, the file of older output, or -1 */
};

/* Creates the file for that many workers, if the system allows it. */
void cli_books_make(struct cli_books *, uint32_t slots);
void cli_books_close(struct cli_books *);

/* The worker in that slot has such a file open. */
void cli_books_spill(struct cli_books *, uint32_t slot, pid_t worker, int fd);

/* All workers are gone: writes what is left, in order. */
void cli_books_show(const struct cli_books *, const struct run_options *);

#endif
