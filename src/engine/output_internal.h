/*
 * output_internal.h - declarations shared by the output_*.c files.
 */
#ifndef ENGINE_OUTPUT_INTERNAL_H
#define ENGINE_OUTPUT_INTERNAL_H

#include "engine/output.h"

struct output_record {
    vtime when;
    uint64_t key; /* rank << 2 | fd */
    size_t at;    /* offset of its bytes in output.text */
    size_t len;   /* at least 1 */
};

/* The header of a text in memory and in the book (output_book.h). */
struct output_entry {
    vtime when;
    uint64_t key;
    uint64_t len; /* length << 1 | whether it is a piece of an unfinished line */
};

/* Order by (time, rank); records that compare equal keep their order of arrival. */
static inline int output_record_compare(const struct output_record *a,
                                        const struct output_record *b)
{
    uint64_t rank_a = a->key >> 2, rank_b = b->key >> 2;

    if (a->when != b->when)
        return a->when < b->when ? -1 : 1;
    return (rank_a > rank_b) - (rank_a < rank_b);
}

/* output.c: adds one record to the writer's stage. */
void output_emit(struct output *, const struct output_record *, const char *text);

/* Calls fn for each unfinished line; returns whether there is any. */
void output_lines_each(struct output *, void (*fn)(struct output *, uint64_t key, vtime when,
                                                   const struct buf *line));
int output_has_lines(const struct output *);
/* Passes the stage to the writer. */
void output_flush(struct output *);

/* output_sort.c: sorts the records in memory. */
void output_sort(struct output *);

/* output_spill.c */
/* Emits the records of runs before `bound` that come no later than `next` (NULL: all). */
void output_runs_emit(struct output *, vtime bound, const struct output_record *next);
/* Discards records of runs later than t. */
void output_runs_cut(struct output *, vtime t);
void output_spill_fini(struct output *);

#endif
