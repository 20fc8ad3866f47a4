/*
 * output_ledger.h - lines on their way from one process to another.
 *
 * With several processes each hands its lines to process 0, which may compute for long before it takes
 * them. Until it says that it has, they are kept in memory that the starter of the run shares, the *ledger*,
 * so that they can be shown if the processes die. Process 0 notes in its own ledger how many lines it has
 * taken from each: these are in its book (output_book.h), or written.
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
    ((size_t)1 << 30) /* of address space; what is not in use takes no memory */
#define OUTPUT_LEDGER_BYTES (OUTPUT_LEDGER_HEAD + OUTPUT_LEDGER_DATA)
#define OUTPUT_LEDGER_PROCS (OUTPUT_LEDGER_HEAD / sizeof(uint64_t) - 2)
/* A book and a ledger, one after the other. */
#define OUTPUT_SLOT_BYTES (OUTPUT_BOOK_BYTES + OUTPUT_LEDGER_BYTES)

/* All zero at the start. The data follows the head. */
struct output_ledger {
    _Atomic uint64_t proc;                       /* whose it is, + 1; 0: not known yet */
    _Atomic uint64_t range;                      /* where the lines are: start << 32 | end */
    _Atomic uint64_t taken[OUTPUT_LEDGER_PROCS]; /* process 0: lines that it has of each process */
};

/* Keeps a line, the number-th that this process hands on. If there is no room it is not kept. */
void output_ledger_add(struct output_ledger *, uint64_t number, uint64_t rank, vtime when, int fd,
                       const char *text, size_t n);
/* The first `count` lines of all need not be kept any more. */
void output_ledger_drop(struct output_ledger *, uint64_t count);

/*
 * All processes of a run are gone. Adds what has not been written to `into`, of which output_finish then
 * writes it: from `count` slots, those of processes that never came are all zero. `spills` are the files of
 * older records, or -1. Trusts nothing that it reads. Returns the number of lines.
 */
uint64_t output_recover_all(char *const *slots, const int *spills, size_t count,
                            struct output *into);

#endif
