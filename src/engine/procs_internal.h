/*
 * procs_internal.h - shared by the files of procs.h.
 */
#ifndef ENGINE_PROCS_INTERNAL_H
#define ENGINE_PROCS_INTERNAL_H

#include "engine/procs.h"

enum { PROCS_BATCH = 1, PROCS_REPORT, PROCS_VERDICT, PROCS_LOOK, PROCS_LOOKED };

/* What came before the verdict that it follows from (procs_early.c). */
struct procs_held {
    struct procs_held *next;
    uint32_t from;
    int tag;
    void *data; /* proc_link_free */
    size_t bytes;
    uint64_t epoch; /* in which it came */
};

/* If it must wait for a verdict: keeps it, which it then owns, behind what is kept already, and
 * returns 1. */
int procs_hold_early(struct procs *, uint32_t from, int tag, void *data, size_t bytes);
/* What was kept and need not wait any longer, for the caller to take and free; or NULL. */
struct procs_held *procs_release(struct procs *);
/* Does this process never take the step that the batch belongs to? */
int procs_is_dropped(const struct procs *, const void *batch);

/* In place. `wakes`: does a message end the sleep of its receiver? */
void procs_wait_init(struct procs_wait *, int wakes);

#endif
