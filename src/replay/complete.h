/*
 * complete.h - what the files that complete requests share. Those of a call are in a batch.
 */
#ifndef REPLAY_COMPLETE_H
#define REPLAY_COMPLETE_H

#include "replay/replay.h"

/* The requests of a call: those that are still to be completed, and where they are in its array. */
struct replay_batch {
    struct replay_rank *k;
    const int64_t *numbers; /* of all */
    int *at;                /* positions of those that are left */
    MPI_Request *handles;
    MPI_Status *statuses; /* by position in the array of the call */
    int count;            /* of those that are left */
    int all;              /* of the call */
};

/* ---- batch.c ---- */
struct replay_batch replay_batch_of(struct replay_rank *, const int64_t *numbers, uint64_t all);
/* The numbers that the requests were started with: what the new trace shows. */
const int64_t *replay_origins(struct replay_rank *, const int64_t *numbers, uint64_t count);
/* The status of a request that a call has completed, before the request is forgotten. */
struct trace_status replay_status_of(struct replay_rank *, int64_t number, const MPI_Status *);
void replay_set_status(struct replay_rank *, const struct replay_fn *, struct trace_status);
/* A request that was not remapped, but may have got another message than in the recording. */
void replay_compare_own(struct replay_rank *, int64_t number, const struct trace_status *was,
                        struct trace_status *is);
/* Request i of the batch is complete; its handle may have become null. */
void replay_completed(struct replay_batch *, int i);
/* All that is marked as moved forward has its record here. */
void replay_undraw_all(struct replay_rank *, const int64_t *numbers, uint64_t count);
/* The call has nothing left to do: counts it, returns 0. */
int replay_dropped(struct replay_rank *);
/* What a call that failed to find anything spends in deterministic mode, where it is not made.
 * Returns 1. */
int replay_spent(struct replay_rank *);

/* ---- complete_some.c, ask.c: as replay_complete ---- */
int replay_complete_any(struct replay_rank *, const struct replay_fn *, int is_test);
int replay_complete_some(struct replay_rank *, const struct replay_fn *, int is_test);
int replay_ask(struct replay_rank *, const struct replay_fn *);
int replay_test_win(struct replay_rank *);

#endif
