/*
 * output.h - the output of all ranks, in the order of virtual time.
 *
 * Ranks run ahead of each other, so a line may not be shown before all ranks have passed its time.
 * A line becomes a record when its newline is written, stamped with the clock of that moment.
 * Records leave in the order (time, rank, sequence), where the sequence counts a rank's own lines:
 * lines of one rank and time never swap, even between stdout and stderr.
 *
 *     output_add -> unfinished line of (rank, fd) -> records in memory -> sorted runs in a file
 *                                                          \__________ merge _________/
 *                                                                       |
 *                                                      output_release -> writer
 *
 * Above the memory limit the records are sorted and moved to an unlinked temporary file. Bytes
 * are written as the program wrote them; a last line without newline stays without one. With
 * labels each line starts with "[rank] ", and a missing newline is added.
 *
 * All functions may be called in a rank's context: they use no interposed libc function but malloc
 * and keep errno. None switches. Out of memory ends the process.
 */
#ifndef ENGINE_OUTPUT_H
#define ENGINE_OUTPUT_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/heap.h"
#include "base/map.h"
#include "base/vtime.h"

#define OUTPUT_MEMORY_DEFAULT ((size_t)64 << 20)
/* A longer line is passed on in pieces, between which lines of other ranks may appear. */
#define OUTPUT_LINE_MAX ((size_t)1 << 20)

struct output_config {
    int labels;
    uint64_t ranks;       /* ranks are below this; 0: not known */
    size_t memory_limit;  /* bytes of records held in memory; 0: OUTPUT_MEMORY_DEFAULT */
    int only_error;       /* standard output goes to standard error, too */
    const char *temp_dir; /* NULL: TMPDIR, or /tmp; copied */
    /* Writes all n bytes to the descriptor: 0, or -1 with errno. NULL: the system. After a failure
     * no more is written to that descriptor; the failure is reported once, but for EPIPE. */
    int (*writer)(void *owner, int fd, const char *text, size_t n);
    /* If set, records are passed to it unchanged instead of being written. */
    void (*record)(void *owner, uint64_t rank, vtime when, int fd, const char *text, size_t n);
    /* If set, called when memory is full. It must call output_spill in a context where files may be
     * opened. */
    void (*full)(void *owner);
    void *owner; /* first argument of writer, record and full */
    /* OUTPUT_BOOK_BYTES of zeroed memory shared with another process; may be NULL. */
    struct output_book *book;
};

/* A position in the order of output: after `count` records of this rank and time. */
struct output_position {
    vtime when;
    uint64_t rank, count;
};

struct output_run; /* a sorted run of records in the file */
HEAP_STRUCT(output_run_heap, struct output_run);

/* The system's writer. */
int output_write_system(void *owner, int fd, const char *text, size_t n);

/* Use the functions. */
struct output {
    struct output_config cfg;
    char *temp_dir;
    struct output_record *records; /* [0, sorted) is in order, all of it in order of arrival */
    size_t count, sorted, cap;
    struct output_record *scratch; /* for merging */
    size_t scratch_cap;
    char *text; /* the records' bytes (output_book.h), including those of records that have left */
    size_t text_len, text_cap, text_live;
    struct output_book *book;       /* where these bytes are, or NULL */
    struct output_position emitted; /* the last record added to `stage` */
    uint64_t line_key;              /* key of the unfinished line that was last written to */
    struct buf line;                /* that line; empty: there is none */
    vtime line_when;                /* when it was last written to */
    struct map lines;               /* all other unfinished lines: key -> struct output_line */
    struct output_run_heap runs;    /* by the next record of each; ties by age */
    int spill_fd;                   /* -1: not open */
    int spill_off;                  /* the file could not be used */
    uint64_t spill_end;
    char *stage; /* bytes to be passed to the writer */
    size_t stage_len;
    int stage_fd;
    int failed[3];    /* errno of the first failed write to a descriptor */
    uint64_t spilled; /* total bytes moved to the file */
};

/* In place. Costs O(1). */
void output_init(struct output *, const struct output_config *);
/* Frees memory and the file; output not yet released is lost. */
void output_fini(struct output *);

/* What the rank wrote to fd (1 or 2) at its time `when`. Amortised O(n). */
void output_add(struct output *, uint64_t rank, vtime when, int fd, const char *text, size_t n);

/* A record of another process, as passed to that process's `record` function. */
void output_add_line(struct output *, uint64_t rank, vtime when, int fd, const char *text,
                     size_t n);

/* Moves all records in memory to a run of the file. If that fails, reports it once and keeps
 * them. */
void output_spill(struct output *);

/* Is there no finished line waiting to be released? */
static inline int output_is_empty(const struct output *out)
{
    return out->count == 0 && out->runs.len == 0;
}

/* The rank has ended at `when`: its unfinished lines become records as they are. */
void output_end_rank(struct output *, uint64_t rank, vtime when);

/* Writes all records with a time before `bound`; no later call may add one before it. */
void output_release(struct output *, vtime bound);

/* Discards all records, and unfinished lines last added to, later than t. */
void output_drop_after(struct output *, vtime t);

/* Writes everything, unfinished lines included. 0, or the errno of the first failed write. */
int output_finish(struct output *);

#endif
