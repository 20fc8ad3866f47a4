/*
 * standin.h - the stand-ins: an MPI program in the simulator, whose rank r does in virtual time
 * what process r of the real program does (wire.h). Arguments and objects are handled as in a
 * replay.
 *
 *     standin.c           messages of the process, the loop over its calls, answers
 *     standin_threads.c   processes whose threads call MPI at the same time
 *     standin_complete.c  calls that complete requests, and probes
 *     standin_told.c      --order real: what the real MPI has decided
 */
#ifndef HYBRID_STANDIN_H
#define HYBRID_STANDIN_H

#include <setjmp.h>

#include "base/buf.h"
#include "hybrid/wire.h"
#include "replay/replay.h"
#include "run/own_call.h"

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

/* A message of the process that was not handled yet. */
struct standin_message {
    struct standin_message *next;
    const uint8_t *data;
    size_t bytes;
};

/* A thread of the process. */
struct standin_thread {
    struct standin_thread *next;
    uint32_t number;
    struct replay_lane lane; /* unless it is the present one */
    struct trace_decoder calls;
    int asks;        /* the message that is handled, or one that told of its call */
    int tells;       /* the process says afterwards what has come of the call */
    int32_t *chosen; /* indices of the requests that it says are complete */
    uint32_t chosen_count, chosen_room;
    struct standin_result result;
    uint64_t failures; /* calls that have failed */
    jmp_buf failed;    /* where to go on when one cannot be made */
    char failure[256]; /* text of the last failure */
    int error;         /* the last failure was an error that MPI returned */
    /* of a process whose threads call MPI at the same time: standin_threads.c */
    int64_t clock;                 /* when its last call ended */
    struct standin_message *given; /* to its side, or NULL */
    int is_blocked;                /* its side is, in a call */
    int has_looked;                /* at what has happened */
    int is_told;                   /* it waits for what the process says of its call */
};

struct standin {
    struct replay_rank k;
    struct standin_thread *now; /* whose calls are being made */
    struct standin_thread *threads;
    struct standin_message *first, **last; /* in the order in which the process has sent them */
    int is_threaded; /* threads of the process may call MPI at the same time */
    int rests;       /* enum hybrid_rest: what the process says */
    uint32_t inside; /* threads that it says are in calls that may block */
    int must_look;   /* those that wait in calls have not looked at what has happened */
    int is_over;     /* the last message was handled */
    int aborts, abort_code;
    int is_real;      /* --order real */
    int may_cancel;   /* receives that are not complete */
    int is_cancelled; /* the process has just said that the receive is */
    struct trace_decoder locals;
    int64_t *wilds; /* requests: undecided receives that are not known to have a message */
    uint32_t wild_count, wild_room;
    int64_t *lasting; /* persistent ones */
    uint32_t lasting_count, lasting_room;
};

/* Ends the run, with this exit status. */
void standin_abort(struct standin *, int code) __attribute__((noreturn));
/* The thread has computed so much, since it began. */
void standin_compute(struct standin *, int64_t computed);
struct standin_thread *standin_thread_make(struct standin *, uint32_t number);
/* Handles a message of the present thread. */
void standin_handle(struct standin *, const uint8_t *data, size_t bytes);

/* standin_threads.c: all messages of a process whose threads call MPI at the same time. `data`: the
 * first one. */
void standin_serve_threads(struct standin *, const void *data, size_t bytes);
/* The next message of the present thread, which is in that call; to be freed by
 * orrery_own_release. */
const uint8_t *standin_thread_await(struct standin *, const struct orrery_own_call *,
                                    size_t *bytes);
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
