/*
 * seen.c - reports the calls of the program to the recorder: before and after each, or before it
 * alone, if others must know of it while it lasts.
 */
#include <string.h>

#include "mpi_roles.h"
#include "native/native.h"

struct native native = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- beginning ---- */

MPI_Status *native_status(struct native_call *c, MPI_Status *status)
{
    status = status == MPI_STATUS_IGNORE ? &c->own : status;
    c->statuses = status;
    return status;
}

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

void native_seen_enter(struct native_lane *lane, struct native_call *c)
{
    const struct mpi_effect *f = native_does(c);
    struct recorder_call seen = {.fn = c->fn, .args = c->args};
    uint64_t words[TRACE_ARGS_MAX];
    int gone = recorder_frees(c->fn) >= 0 ? recorder_frees(c->fn) : calls_message(f);
    if (gone >= 0)
        c->gone = given_handle(c, gone);
    if (calls_request(f) >= 0) {
        copy_words(&seen, words);
        native_requests_enter(lane, c, words);
    }
    native.may_ask = native.may_ask_builtin = 0;
    recorder_enter(&native.rank, lane->recorder, NULL, &seen, c->enter);
}

/* ---- end ---- */

/* Whether it returns communicators, which exist when it returns. */
static int makes_comm(const struct native_call *c)
{
    const struct mpi_effect *f = native_does(c);
    return (f->makes == MPI_ROLE_COMM + 1 || f->step == MPI_STEP_PARENT) && !calls_makes_request(f);
}

/* Learns the members of new communicators. */
static void see_created(const struct native_call *c)
{
    const struct mpi_signature *s = &mpi_fn_signature[c->fn];
    for (unsigned i = 0; i < s->count; i++)
        if (s->args[i].role == MPI_ROLE_COMM && s->args[i].direction == MPI_DIRECTION_OUT &&
            s->args[i].pointers == 1 && c->args[i])
            native_comm_created(*(const uint32_t *)(uintptr_t)c->args[i]);
}

static void see_gone(const struct native_call *c)
{
    int gone = recorder_frees(c->fn);
    if (gone >= 0 && mpi_fn_signature[c->fn].args[gone].role == MPI_ROLE_COMM)
        native_comm_gone(c->gone);
}

static void forget_requests(struct native_lane *lane, struct native_call *c)
{
    const struct mpi_effect *f = native_does(c);
    if (calls_request(f) >= 0 || calls_message(f) >= 0)
        native_requests_forget(lane, c);
}

/* What the call has ended is forgotten. */
static void forget(struct native_lane *lane, struct native_call *c, int rc)
{
    forget_requests(lane, c);
    if (rc == MPI_SUCCESS)
        see_gone(c);
}

/* Numbers of requests in place of the program's handles. */
static void put_ids(const struct native_lane *lane, const struct native_call *c, uint64_t *words)
{
    int position = calls_request(native_does(c));
    if (position >= 0)
        words[position] = mpi_fn_signature[c->fn].args[position].pointers
                              ? (uint64_t)(uintptr_t)lane->ids
                          : lane->id_count ? lane->ids[0]
                                           : (uint32_t)MPI_REQUEST_NULL;
}

void native_seen_leave(struct native_lane *lane, struct native_call *c, int rc, int64_t now)
{
    const struct mpi_effect *f = native_does(c);
    uint64_t words[TRACE_ARGS_MAX];
    struct recorder_call seen = {.fn = c->fn, .args = c->args, .began = c->enter};
    int is_active = native.is_open && (!native.is_finalized || native.sessions);
    native.may_ask = is_active && rc == MPI_SUCCESS;
    if (rc != MPI_SUCCESS && is_active)
        native_real.MPI_Error_class(rc, &seen.rc);
    else
        seen.rc = rc;
    native.may_ask_builtin = is_active && seen.rc != MPI_ERR_TYPE && seen.rc != MPI_ERR_OP;
    if (f->request >= 0 || f->message >= 0 || calls_receives(f)) {
        copy_words(&seen, words);
        put_ids(lane, c, words);
        native_requests_leave(lane, c, words, seen.rc);
    }
    if (makes_comm(c) && native.may_ask)
        see_created(c);
    recorder_leave(&native.rank, lane->recorder, NULL, &seen, now);
    forget(lane, c, rc);
}

void native_seen_early(struct native_lane *lane, struct native_call *c)
{
    uint64_t words[TRACE_ARGS_MAX];
    struct recorder_call seen = {.fn = c->fn, .args = c->args, .began = c->enter, .is_early = 1};
    native.may_ask = native.may_ask_builtin = native.may_fail = 1;
    copy_words(&seen, words);
    put_ids(lane, c, words);
    recorder_leave(&native.rank, lane->recorder, NULL, &seen, c->enter);
    native.may_fail = 0;
    see_gone(c); /* once it is freed, another thread may get the handle for something else */
}

void native_seen_late(struct native_lane *lane, struct native_call *c, int rc)
{
    struct recorder_call seen = {.fn = c->fn, .args = c->args};
    if (rc == MPI_SUCCESS)
        recorder_bind(&native.rank, lane->recorder, &seen);
    else
        recorder_unfree(&native.rank, lane->recorder, c->fn);
    if (makes_comm(c) && rc == MPI_SUCCESS)
        see_created(c);
    if (calls_new_message(native_does(c)) >= 0)
        native_requests_leave(lane, c, NULL, rc);
    forget_requests(lane, c);
}
