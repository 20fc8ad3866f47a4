/*
 * submissions.h - messages that will enter the network, in order of (time, source, destination),
 * then of submission. Submission alone would not do: the order in which a rank answers several
 * others at the same time depends on the schedule.
 *
 * Submissions come in large unordered batches and leave from the front. So they are appended, and
 * sorted batch by batch:
 *
 *     entries  [taken| run 0 ][taken| run 1 ] ... [ fresh, unsorted ]
 *
 * A run is at least twice as long as the next one when that is made, else both are merged. So there
 * are few runs, an entry is moved O(log n) times, and memory is accessed sequentially. Later runs
 * were submitted later: among equal keys the earlier run goes first.
 *
 * Out of memory ends the process. Nothing here switches.
 */
#ifndef NET_SUBMISSIONS_H
#define NET_SUBMISSIONS_H

#include <stdint.h>

#include "base/vtime.h"

#define SUBMISSION_RUNS 34 /* more than the doublings of a 32-bit length */

struct submission {
    vtime t;
    uint32_t src, dst;
    void *item;
};

struct submission_run {
    uint32_t at, end;
};

/* All zero is an empty queue. */
struct submissions {
    struct submission *entries, *scratch;
    uint32_t len, room, scratch_room;
    uint32_t fresh;  /* where the unsorted entries begin */
    vtime fresh_min; /* the earliest of them */
    uint32_t run_count;
    struct submission_run runs[SUBMISSION_RUNS];
};

void submissions_fini(struct submissions *);

void submissions_push(struct submissions *, struct submission);

/* The earliest time, or VTIME_NEVER. */
vtime submissions_next(const struct submissions *);

/* Sorts the fresh entries: before submissions_take. */
void submissions_sort(struct submissions *);

/* Takes the first entry if it is not later than t. Prefetches the items that follow. */
int submissions_take(struct submissions *, vtime t, struct submission *out);

#endif
