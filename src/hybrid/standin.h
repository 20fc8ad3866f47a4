/*
 * standin.h - the stand-ins: an MPI program in the simulator, whose rank r does in virtual time
 * what process r of the real program does (wire.h). Arguments and objects are handled as in a
 * replay.
 *
 *     standin.c           messages of the process, the loop over its calls, answers
 *     standin_complete.c  calls that complete requests, and probes
 *     standin_told.c      --order real: what the real MPI has decided
 */
#ifndef HYBRID_STANDIN_H
#define HYBRID_STANDIN_H

#include <setjmp.h>

#include "base/buf.h"
#include "hybrid/wire.h"
#include "replay/replay.h"

/* What has come of a call. */
struct standin_result {
    int32_t flag;
    int32_t is_failed;
    int32_t *indices;
    uint32_t index_count, index_room;
    struct hybrid_match *matches;
    uint32_t match_count, match_room;
};

/* The requests of a call. */
struct standin_requests {
    int count;
    const int64_t *numbers;
    MPI_Request *handles;
    MPI_Status *statuses;
};

struct standin {
    struct replay_rank k;
    int is_real;      /* --order real */
    int may_cancel;   /* receives that are not complete */
    int is_cancelled; /* the process has just said that the receive is */
    int tells;        /* the process says afterwards what has come of the call ... */
    int32_t *chosen;  /* ... and which requests are complete: indices */
    uint32_t chosen_count, chosen_room;
    struct trace_decoder calls, locals;
    int64_t *wilds; /* requests: undecided receives that are not known to have a message */
    uint32_t wild_count, wild_room;
    int64_t *lasting; /* persistent ones */
    uint32_t lasting_count, lasting_room;
    struct standin_result result;
    uint64_t failures; /* calls that have failed */
    jmp_buf failed;    /* where to go on when one cannot be made */
    char failure[256]; /* the last one, ... */
    int error;         /* ... if MPI has returned an error */
};

void standin_answer(struct standin *, enum hybrid_ask);
struct standin_requests standin_requests(struct standin *, const struct replay_fn *);
int standin_is_wild(const struct standin *, int64_t request);
void standin_forget_wild(struct standin *, int64_t request);

/* standin_told.c: the matches and indices of a message; returns what follows them. */
const uint8_t *standin_take_told(struct standin *, const struct hybrid_head *, const uint8_t *at);
/* Waits until the process says what has come of the call. 0: it has failed. */
int standin_await_outcome(struct standin *, const struct replay_fn *);
/* Replaces all requests by null ones, but those that were chosen. */
void standin_choose(struct standin *, struct standin_requests *);
/* After a test that found nothing: whether the process can say more, which it then has. */
int standin_ask_back(struct standin *, const struct standin_requests *);
/* MPI_Cancel: returns 0 if the call is to be made. */
int standin_cancel(struct standin *, int64_t request);
/* Before persistent receives are started: their source is open again. */
void standin_reopen(struct standin *, const struct replay_fn *);

void standin_add_index(struct standin *, int32_t index);
void standin_add_match(struct standin *, int64_t request, int source, int tag);
/* A call that completes requests, or a probe. */
void standin_complete(struct standin *, const struct replay_fn *);
void standin_probe(struct standin *, const struct replay_fn *);

#endif
