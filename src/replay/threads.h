/*
 * threads.h - the threads of a rank; within threads.c and threads_wait.c.
 */
#ifndef REPLAY_THREADS_H
#define REPLAY_THREADS_H

#include "replay/replay.h"

#define REPLAY_NEVER INT64_MAX

enum replay_thread_state {
    REPLAY_THREAD_UNBORN,
    REPLAY_THREAD_COMPUTES, /* until its next record is due */
    REPLAY_THREAD_WAITS,    /* in a call */
    REPLAY_THREAD_ENDED,
};

struct replay_thread {
    struct replay_lane lane; /* unless the rank has it */
    struct whatif_rank changed;
    enum replay_thread_state state;
    struct whatif_item item;      /* the next record, or the call in which it waits */
    int64_t due;                  /* when the next record begins */
    int64_t began;                /* when the call began in which it waits */
    int64_t was_left;             /* when the record before the next one ended, in the recording */
    MPI_Request own;              /* of the non-blocking form of the call */
    const struct replay_fn *form; /* that; or NULL */
    MPI_Request *handles;         /* of requests that are not complete */
    size_t count, room;
    int needs_all; /* of them; or one */
    int is_probe;  /* it waits for a message */
    int is_forced; /* a test that had succeeded: if it waits, it is forced to */
};

/* ---- threads.c ---- */
/* The rank goes on with this thread. */
struct replay_thread *replay_thread_enter(struct replay_rank *, unsigned i);
/* The next record of the thread that the rank is in. */
void replay_thread_fetch(struct replay_rank *, struct replay_thread *);
/* When a record ended in the recording, in picoseconds. */
int64_t replay_recorded_leave(const struct replay_rank *, const struct whatif_item *);

/* ---- threads_wait.c ---- */
/* The record of the thread that the rank is in is due: makes its call, or begins to wait in it. */
void replay_thread_start(struct replay_rank *, struct replay_thread *);
/* Waits until then at most; 1: a thread that waited has gone on. */
int replay_threads_wait(struct replay_rank *, int64_t until);

#endif
