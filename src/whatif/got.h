/*
 * got.h - finds what non-blocking receives receive, before the record that completes them is
 * reached.
 */
#ifndef WHATIF_GOT_H
#define WHATIF_GOT_H

#include "base/map.h"
#include "whatif/whatif.h"

/* A completion; `next` is the position + 1 of the next one of its request, or of the next unused
 * one. */
struct whatif_got_item {
    struct trace_status status;
    size_t next;
};

/* The completions that were read ahead; all zero at first. */
struct whatif_got {
    struct map at; /* by request number: position + 1 of its first completion in the list */
    struct whatif_got_item *list;
    size_t count, free; /* free: the first unused one + 1 */
    int is_at_end;
    int keeps_all; /* keeps every completion of a persistent request, not only the first */
};

/* Finds the status of the first completion of a request that starts here: reads the stage ahead
 * until then. Returns 0 if there is none. A completion is taken once. */
int whatif_got_take(struct whatif_got *, struct whatif_stage *ahead, int64_t number,
                    struct trace_status *out);
void whatif_got_fini(struct whatif_got *);

typedef void whatif_visit_status(void *owner, int64_t number, struct trace_status *);
/* Visits the statuses of a call that completes requests, with the numbers of these requests. */
void whatif_visit_statuses(const struct whatif_rank *, const struct trace_event *,
                           whatif_visit_status *, void *owner);

#endif
