/*
 * output_ledger.h - lines in flight from one process to another.
 *
 * With several processes, each sends its lines to process 0, which may compute for a long time
 * before it takes them. Until process 0 acknowledges them, they are kept in the *ledger*, memory
 * that the starter of the run shares, so that they can be shown if the processes die. Process 0
 * notes in its own ledger how many lines it has taken from each process: these are in its book
 * (output_book.h) or written.
 *
 *     process 1   book ----> ledger ...................... dropped
 *                               `--- lines ---.   .--- "taken" ---'
 *     process 0                                book ----> written
 */
#ifndef ENGINE_OUTPUT_LEDGER_H
#define ENGINE_OUTPUT_LEDGER_H

#include <stdatomic.h>

#include "engine/output_book.h"

#define OUTPUT_LEDGER_HEAD ((size_t)1 << 20)
#define OUTPUT_LEDGER_DATA \
    ((size_t)1 << 30) /* bytes of address space; unused parts take no memory */
#define OUTPUT_LEDGER_BYTES (OUTPUT_LEDGER_HEAD + OUTPUT_LEDGER_DATA)
#define OUTPUT_LEDGER_PROCS (OUTPUT_LEDGER_HEAD / sizeof(uint64_t) - 2)
/* A slot: a book followed by a ledger. */
#define OUTPUT_SLOT_BYTES (OUTPUT_BOOK_BYTES + OUTPUT_LEDGER_BYTES)

/* All zero at the start. The data follows this head. */
struct output_ledger {
    _Atomic uint64_t proc;  /* the process it belongs to, + 1; 0: not known yet */
    _Atomic uint64_t range; /* range of the lines: start << 32 | end */
    /* Process 0: number of lines it has taken from each process. */
    _Atomic uint64_t taken[OUTPUT_LEDGER_PROCS];
};

/* Keeps a line, the number-th that this process sends. If there is no room, it is not kept. */
void output_ledger_add(struct output_ledger *, uint64_t number, uint64_t rank, vtime when, int fd,
                       const char *text, size_t n);
/* The first `count` lines need not be kept any longer. */
void output_ledger_drop(struct output_ledger *, uint64_t count);

/*
 * All processes of a run are gone. Adds what was not written to `into`, for output_finish to write,
 * from `count` slots; the slots of processes that never started are all zero. `spills` are the
 * files of older records, or -1. Validates everything that it reads. Returns the number of lines.
 */
uint64_t output_recover_all(char *const *slots, const int *spills, size_t count,
                            struct output *into);

#endif
