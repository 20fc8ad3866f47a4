/*
 * output_book.h - the texts of all pending records, in memory that survives the death of this
 * process.
 *
 * Output waits in memory until it may be released (output.h). That memory, the *book*, is shared
 * with the process that watches this one. If this process dies without a report, the watcher reads
 * what was not written yet, and writes it.
 *
 *     |struct output_book|  half 0: entry entry entry ...  |  half 1: not in use  |
 *     entry: time, key, length; the bytes of a line, or a piece of an unfinished one
 *
 * Entries are only appended. To drop old ones, those still needed are copied to the other half, and
 * a change of one word switches halves. So the book is consistent at every moment. Without a book
 * (in unit tests, or if the system refused the memory) texts are in private memory.
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
    _Atomic vtime cut;                 /* records from this time on are discarded; 0: none */
    _Atomic vtime bound;               /* records before this time have been written */
    struct output_position written[2]; /* records up to here, too: the element `which` is valid */
    _Atomic uint32_t which;
    /* Descriptor of the file of older records (output_spill.c) in this process, + 1; 0: none. */
    _Atomic int32_t spill_fd;
    _Atomic uint32_t run_count;
    struct {
        uint64_t start, end; /* its range in the file */
        vtime cut;           /* records later than this are discarded */
    } runs[OUTPUT_BOOK_RUNS];
};

/* Appends the text of a record, `head` and then `tail`; returns its offset in out->text. */
size_t output_text_add(struct output *, uint64_t key, vtime when, const struct buf *head,
                       const char *tail, size_t n);
/* Appends a piece of an unfinished line. */
void output_text_piece(struct output *, uint64_t key, vtime when, const char *text, size_t n);
/* Called after records have left: drops texts that are no longer needed, if there are many. */
void output_text_trim(struct output *);
/* Drops them in any case, few or many. */
void output_text_renew(struct output *);

/* All records before `bound` have been written; all emitted records have been written. */
void output_book_passed(struct output *, vtime bound);
void output_book_wrote(struct output *);
/* Records later than t are discarded. */
void output_book_cut(struct output *, vtime t);
/* A run is added or removed; all runs lose their records later than t. */
void output_book_add_run(struct output *, uint64_t start, uint64_t end);
void output_book_remove_run(struct output *, uint64_t start);
void output_book_cut_runs(struct output *, vtime t);

/*
 * Adds what the book of a dead process still holds to `into`, for output_finish to write. `spill`
 * is the file of older records, or -1. Validates everything that it reads. Returns the number of
 * records and pieces.
 */
uint64_t output_recover(const void *book, size_t bytes, int spill, struct output *into);

#endif
