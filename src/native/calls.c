/*
 * calls.c - what happens at the beginning and at the end of a call.
 *
 * Calls that MPI makes during a call of the program, for instance through callbacks of the program,
 * are part of that call.
 */
#include <time.h>

#include "base/mem.h"
#include "native/native.h"

static _Thread_local struct native_lane *own_lane __attribute__((tls_model("initial-exec")));
/* Set in a call, or in the recorder itself. */
static _Thread_local int is_inside __attribute__((tls_model("initial-exec")));

void native_define(unsigned kind, const void *payload, size_t bytes)
{
    trace_part_define(&native.part, kind, payload, bytes);
}

int64_t native_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* The first thread that makes a call uses the lane of the rank. */
static struct native_lane *make_lane(void)
{
    struct native_lane *lane = mem_zalloc(sizeof *lane);
    pthread_mutex_lock(&native.lock);
    if (native.rank.lanes) {
        lane->recorder = mem_zalloc(sizeof *lane->recorder);
        recorder_lane_init(&native.rank, lane->recorder);
    } else {
        recorder_rank_init(&native.rank, &native.part.sink, 0);
        lane->recorder = &native.rank.lane;
    }
    pthread_mutex_unlock(&native.lock);
    return own_lane = lane;
}

struct native_lane *native_own_lane(void)
{
    return __builtin_expect(own_lane != NULL, 1) ? own_lane : make_lane();
}

MPI_Status *native_statuses(struct native_call *c, MPI_Status *statuses)
{
    struct native_lane *lane = native_own_lane();
    if (statuses == MPI_STATUSES_IGNORE) {
        if (lane->id_count > lane->status_room) {
            lane->status_room = lane->id_room;
            mem_free(lane->statuses);
            lane->statuses = mem_alloc(lane->status_room * sizeof *lane->statuses);
        }
        statuses = lane->id_count ? lane->statuses : statuses;
    }
    c->statuses = statuses == MPI_STATUSES_IGNORE ? NULL : statuses;
    return statuses;
}

/* ---- beginning ---- */

/* A process that an MPI cannot spawn ends here, like one that aborts, without a word to us. */
static int may_end(const struct mpi_effect *f)
{
    return f->kind == MPI_DOES_ABORT || f->step == MPI_STEP_SPAWN;
}

int native_enter(struct native_call *c)
{
    if (__builtin_expect(is_inside, 0) || (!native.is_ready && !native_prepare()) || native.is_over)
        return 0;
    is_inside = 1;
    struct native_lane *lane = native_own_lane();
    const struct mpi_effect *f = native_does(c);
    if (f->kind == MPI_DOES_FINALIZE && native.is_open)
        native_clocks_end();
    c->enter = native_now();
    if (recorder_looks_at(c->fn) || native.keeps_sites || may_end(f)) {
        pthread_mutex_lock(&native.lock);
        native_seen_enter(lane, c);
        if (f->kind == MPI_DOES_ABORT) {
            native_end();
            native_say_end((int)c->args[1]);
        } else if (may_end(f) && native.is_open)
            native_write(c->enter);
        pthread_mutex_unlock(&native.lock);
    } else { /* only its time is kept, in the lane */
        struct recorder_call seen = {.fn = c->fn, .args = c->args};
        recorder_enter(&native.rank, lane->recorder, NULL, &seen, c->enter);
    }
    return 1;
}

/* ---- end ---- */

/* Whether the call is the first to initialise MPI: threads may open sessions at the same time. */
static int begins(const struct native_call *c)
{
    if (native_does(c)->kind != MPI_DOES_INIT && c->fn != MPI_FN_SESSION_INIT)
        return 0;
    pthread_mutex_lock(&native.lock);
    int is_first = !native.is_begun;
    native.is_begun = 1;
    pthread_mutex_unlock(&native.lock);
    return is_first;
}

void native_leave(struct native_call *c, int rc)
{
    struct native_lane *lane = native_own_lane();
    int is_new = rc == MPI_SUCCESS && begins(c);
    if (rc == MPI_SUCCESS && c->fn == MPI_FN_SESSION_INIT)
        native_session_begin(*(const MPI_Session *)(uintptr_t)c->args[2]);
    if (is_new)
        native_begin();
    int64_t now = native_now();
    pthread_mutex_lock(&native.lock);
    if (native_does(c)->kind == MPI_DOES_FINALIZE && rc == MPI_SUCCESS) {
        native.is_finalized = 1;
        native_say_end(0);
    }
    native.sessions -= c->fn == MPI_FN_SESSION_FINALIZE && rc == MPI_SUCCESS;
    if (c->fn == MPI_FN_PCONTROL)
        native_pcontrol(lane, c, now);
    native_seen_leave(lane, c, rc, now);
    if (__builtin_expect(now - native.written > NATIVE_WRITE_AFTER || is_new, 0) && native.is_open)
        native_write(now);
    pthread_mutex_unlock(&native.lock);
    if (__builtin_expect(native.part.err.code != 0, 0))
        native_check_disk();
    is_inside = 0;
}
