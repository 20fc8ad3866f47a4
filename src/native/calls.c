/*
 * calls.c - what happens at the beginning and at the end of a call.
 *
 * Calls that MPI makes during a call of the program, for instance through callbacks of the program,
 * are part of that call.
 */
#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "mpi_roles.h"
#include "native/native_internal.h"

static _Thread_local struct native_lane *own_lane __attribute__((tls_model("initial-exec")));
/* Set in a call, or in the recorder itself. */
static _Thread_local int is_inside __attribute__((tls_model("initial-exec")));

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

MPI_Status *native_status(struct native_call *c, MPI_Status *status)
{
    status = status == MPI_STATUS_IGNORE ? &c->own : status;
    c->statuses = status;
    return status;
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

/* The handle that is passed by a pointer, and that the call may set to null. */
static uint64_t given_handle(const struct native_call *c, int position)
{
    const struct mpi_arg *arg = &mpi_fn_signature[c->fn].args[position];
    if (!c->args[position])
        return 0;
    return arg->bytes == 4 ? *(const uint32_t *)(uintptr_t)c->args[position]
                           : *(const uint64_t *)(uintptr_t)c->args[position];
}

/* A copy of the arguments, in which some can be replaced. */
static void copy_words(struct recorder_call *seen, uint64_t *words)
{
    memcpy(words, seen->args, mpi_fn_signature[seen->fn].count * sizeof *words);
    seen->args = words;
}

static void enter(struct native_lane *lane, struct native_call *c)
{
    const struct native_fn *f = &native.fns[c->fn];
    struct recorder_call seen = {.fn = c->fn, .args = c->args};
    uint64_t words[TRACE_ARGS_MAX];
    int gone = recorder_frees(c->fn) >= 0 ? recorder_frees(c->fn) : f->message;
    if (gone >= 0)
        c->gone = given_handle(c, gone);
    if (f->request >= 0) {
        copy_words(&seen, words);
        native_requests_enter(lane, c, words);
    }
    native.may_ask = native.may_ask_builtin = 0;
    recorder_enter(&native.rank, lane->recorder, NULL, &seen, c->enter);
}

/* A process that an MPI cannot spawn ends here, like one that aborts, without a word to us. */
static int may_end(enum mpi_fn fn)
{
    return fn == MPI_FN_ABORT || fn == MPI_FN_COMM_SPAWN || fn == MPI_FN_COMM_SPAWN_MULTIPLE;
}

int native_enter(struct native_call *c)
{
    if (__builtin_expect(is_inside, 0) || (!native.is_ready && !native_prepare()) || native.is_over)
        return 0;
    is_inside = 1;
    struct native_lane *lane = native_own_lane();
    if (c->fn == MPI_FN_FINALIZE && native.is_open)
        native_clocks_end();
    c->enter = native_now();
    if (recorder_looks_at(c->fn) || native.keeps_sites || may_end(c->fn)) {
        pthread_mutex_lock(&native.lock);
        enter(lane, c);
        if (c->fn == MPI_FN_ABORT)
            native_end();
        else if (may_end(c->fn) && native.is_open)
            native_write(c->enter);
        pthread_mutex_unlock(&native.lock);
    } else { /* only its time is kept, in the lane */
        struct recorder_call seen = {.fn = c->fn, .args = c->args};
        recorder_enter(&native.rank, lane->recorder, NULL, &seen, c->enter);
    }
    return 1;
}

/* ---- end ---- */

/* Learns the members of new communicators. */
static void see_created(const struct native_call *c)
{
    const struct mpi_signature *s = &mpi_fn_signature[c->fn];
    for (unsigned i = 0; i < s->count; i++)
        if (s->args[i].role == MPI_ROLE_COMM && s->args[i].direction == MPI_DIRECTION_OUT &&
            s->args[i].pointers == 1 && c->args[i])
            native_comm_created(*(const uint32_t *)(uintptr_t)c->args[i]);
}

static void leave(struct native_lane *lane, struct native_call *c, int rc, int64_t now)
{
    const struct native_fn *f = &native.fns[c->fn];
    uint64_t words[TRACE_ARGS_MAX];
    struct recorder_call seen = {.fn = c->fn, .args = c->args, .began = c->enter};
    int is_active = native.is_open && !native.is_finalized;
    native.may_ask = is_active && rc == MPI_SUCCESS;
    if (rc != MPI_SUCCESS && is_active)
        native_real.MPI_Error_class(rc, &seen.rc);
    else
        seen.rc = rc;
    native.may_ask_builtin = is_active && seen.rc != MPI_ERR_TYPE && seen.rc != MPI_ERR_OP;
    if (f->request >= 0 || f->made >= 0 || f->gets || f->probed >= 0) {
        copy_words(&seen, words);
        if (f->request >= 0)
            words[f->request] = mpi_fn_signature[c->fn].args[f->request].pointers
                                    ? (uint64_t)(uintptr_t)lane->ids
                                : lane->id_count ? lane->ids[0]
                                                 : (uint32_t)MPI_REQUEST_NULL;
        native_requests_leave(lane, c, words, seen.rc);
    }
    if (f->creates && native.may_ask)
        see_created(c);
    recorder_leave(&native.rank, lane->recorder, NULL, &seen, now);
    if (f->request >= 0 || f->message >= 0)
        native_requests_forget(lane, c);
    int gone = recorder_frees(c->fn);
    if (gone >= 0 && rc == MPI_SUCCESS && mpi_fn_signature[c->fn].args[gone].role == MPI_ROLE_COMM)
        native_comm_gone(c->gone);
}

void native_leave(struct native_call *c, int rc)
{
    struct native_lane *lane = native_own_lane();
    int is_new = rc == MPI_SUCCESS && !native.is_open &&
                 (c->fn == MPI_FN_INIT || c->fn == MPI_FN_INIT_THREAD ||
                  c->fn == MPI_FN_SESSION_INIT);
    if (is_new)
        native_begin();
    int64_t now = native_now();
    pthread_mutex_lock(&native.lock);
    native.is_finalized |= c->fn == MPI_FN_FINALIZE && rc == MPI_SUCCESS;
    if (c->fn == MPI_FN_PCONTROL)
        native_pcontrol(lane, c, now);
    leave(lane, c, rc, now);
    if (__builtin_expect(now - native.written > NATIVE_WRITE_AFTER || is_new, 0) && native.is_open)
        native_write(now);
    pthread_mutex_unlock(&native.lock);
    if (__builtin_expect(native.part.err.code != 0, 0))
        native_check_disk();
    is_inside = 0;
}
