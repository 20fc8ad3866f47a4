/*
 * output_book.h - the texts of all records, where another process finds them if this one dies.
 *
 * Output waits in memory until its time has come (output.h). That memory, the *book*, is shared with
 * the process that watches this one. If this one dies without a word, the other reads what had not been
 * written yet, and writes it.
 *
 *     |struct output_book|  half 0: entry entry entry ...  |  half 1: not in use  |
 *     entry: time, key, length; the bytes of a line, or a piece of an unfinished one
 *
 * Entries are only appended. To get rid of old ones, those that count are copied to the other half,
 * and one word changes halves. So the book is complete at every moment. Without a book (unit tests, or
 * the system refused the memory) texts are in memory of this process.
 */
#ifndef ENGINE_OUTPUT_BOOK_H
#define ENGINE_OUTPUT_BOOK_H

#include <stdatomic.h>

#include "engine/output.h"

#define OUTPUT_BOOK_HALF (OUTPUT_MEMORY_DEFAULT + 2 * OUTPUT_LINE_MAX)
#define OUTPUT_BOOK_HEAD ((size_t)128 << 10)
#define OUTPUT_BOOK_BYTES (OUTPUT_BOOK_HEAD + 2 * OUTPUT_BOOK_HALF)
#define OUTPUT_BOOK_RUNS 4096

/* All zero at the start. */
struct output_book {
    _Atomic uint64_t current;          /* bytes in use << 1 | half */
    _Atomic vtime cut;                 /* records from this time on were discarded; 0: none */
    _Atomic vtime bound;               /* records before this time have been written ... */
    struct output_position written[2]; /* ... and those up to this place, ... */
    _Atomic uint32_t which;            /* ... of which this one counts */
    _Atomic int32_t
        spill_fd; /* the file of older records (output_spill.c), as this process has it, + 1;
                               * 0: there is none */
    _Atomic uint32_t run_count;
    struct {
        uint64_t start, end; /* where it is in the file */
        vtime cut;           /* records later than this do not count */
    } runs[OUTPUT_BOOK_RUNS];
};

/* Appends the text of a record, `head` and then `tail`; returns where it is in out->text. */
size_t output_text_add(struct output *, uint64_t key, vtime when, const struct buf *head,
                       const char *tail, size_t n);
/* A piece of an unfinished line has come. */
void output_text_piece(struct output *, uint64_t key, vtime when, const char *text, size_t n);
/* Records have left: drops texts that do not count any more, if they are many. */
void output_text_trim(struct output *);
/* Drops them in any case. */
void output_text_renew(struct output *);

/* All records before `bound` are written; all that were emitted are. */
void output_book_passed(struct output *, vtime bound);
void output_book_wrote(struct output *);
/* What is later than t is discarded. */
void output_book_cut(struct output *, vtime t);
/* A run begins or ends to exist; all lose what is later than t. */
void output_book_add_run(struct output *, uint64_t start, uint64_t end);
void output_book_remove_run(struct output *, uint64_t start);
void output_book_cut_runs(struct output *, vtime t);

/*
 * Adds what the book of a process that has died still holds to `into`, of which output_finish then
 * writes it. `spill` is the file of older records, or -1. Trusts nothing that it reads. Returns the
 * number of records and pieces.
 */
uint64_t output_recover(const void *book, size_t bytes, int spill, struct output *into);

#endif
