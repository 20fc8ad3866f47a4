/*
 * got.h - what non-blocking receives get, before the record that says so.
 */
#ifndef WHATIF_GOT_H
#define WHATIF_GOT_H

#include "base/map.h"
#include "whatif/whatif.h"

/* What was read ahead of; all zero at first. */
struct whatif_got {
    struct map at; /* by request number: position in the list + 1 */
    struct trace_status *list;
    size_t count, free; /* free: the first unused one + 1, linked by `bytes` */
    int is_at_end;
};

/* The status of the first completion of a request that begins here: reads the stage ahead until it
 * is found. Returns 0 if there is none. A number is taken once. */
int whatif_got_take(struct whatif_got *, struct whatif_stage *ahead, int64_t number,
                    struct trace_status *out);
void whatif_got_fini(struct whatif_got *);

typedef void whatif_visit_status(void *owner, int64_t number, struct trace_status *);
/* Visits the statuses of a call that completes requests, with the numbers of these. */
void whatif_visit_statuses(const struct whatif_rank *, const struct trace_event *,
                           whatif_visit_status *, void *owner);

#endif
