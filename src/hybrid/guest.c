/*
 * guest.c - the calls of the program.
 */
#include "hybrid/guest.h"

#include <sched.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "mpi_roles.h"

MPI_Status *guest_statuses(struct guest_call *g, MPI_Status *statuses)
{
    g->call.statuses = statuses == MPI_STATUSES_IGNORE ? NULL : statuses;
    return statuses;
}

/* What may be called at any time, by any thread. */
static int is_for_all_threads(enum mpi_fn fn)
{
    return fn == MPI_FN_INITIALIZED || fn == MPI_FN_FINALIZED || fn == MPI_FN_GET_VERSION ||
           fn == MPI_FN_GET_LIBRARY_VERSION;
}

/* Enters the library when no other thread reads a clock; returns 0 if it need not. */
static int take_turn(enum mpi_fn fn)
{
    if (guest.is_threaded && is_for_all_threads(fn) && !guest_own())
        return 0;
    while (!guest_try_enter()) {
        if (is_for_all_threads(fn))
            return 0;
        if (guest.me->frame) {
            log_error("two threads of a process call MPI at the same time, which needs "
                      "MPI_THREAD_MULTIPLE of MPI_Init_thread");
            _exit(2); /* the launcher ends the others */
        }
        sched_yield();
    }
    return 1;
}

/* ---- a call ---- */

/* The program's error handler has left the call. */
static void abandon(void)
{
    guest_come_back();
    guest.me->frame = 0;
    guest.me->failures++;
    guest_count(0);
    if (guest.is_open)
        guest_show(0);
    guest_clock_start();
    guest_go_out();
}

void guest_end(struct guest_call *g)
{
    if (g->is_inside)
        abandon();
}

/* Abandons a call that the program has left by a jump, after which nothing of it is called: what
 * MPI calls by itself, in callbacks, is deeper in the stack. */
static void leave_abandoned(const struct guest_call *g)
{
    if (guest_am_inside() && guest_own()->frame && (uintptr_t)g >= guest_own()->frame)
        abandon();
}

/* A handler may make a call return no error; one in C++ always does. */
static int makes_handler(enum mpi_fn fn)
{
    return fn == MPI_FN_COMM_CREATE_ERRHANDLER || fn == MPI_FN_ERRHANDLER_CREATE ||
           fn == MPI_FN_WIN_CREATE_ERRHANDLER || fn == MPI_FN_FILE_CREATE_ERRHANDLER;
}

/* Calls that may block are recorded, and sent, before they are made; one that returns a request
 * returns at once. */
static int is_early(enum mpi_fn fn)
{
    const struct mpi_effect *f = &mpi_fn_effect[fn];
    return f->kind == MPI_DOES_ABORT || (mpi_fn_flags[fn] & MPI_FNFLAG_ACTS &&
                                         !calls_makes_request(f) && f->kind != MPI_DOES_INIT);
}

int guest_enter(struct guest_call *g)
{
    leave_abandoned(g);
    if (guest_am_inside() || guest.is_over)
        return 0;
    if (native_does(&g->call)->kind == MPI_DOES_FINALIZE && guest.is_open)
        guest_delete_attributes();
    if (!take_turn(g->call.fn))
        return 0;
    if (!native.is_ready)
        guest_begin();
    g->is_inside = 1;
    if (!guest.is_open)
        return 1;
    guest.me->frame = (uintptr_t)g;
    const uint32_t *cancelled = native_does(&g->call)->kind == MPI_DOES_CANCEL && !g->is_wrong
                                    ? (const uint32_t *)(uintptr_t)g->call.args[0]
                                    : NULL;
    g->is_idle = cancelled && native_request_sends(cancelled);
    if (cancelled && !g->is_idle && !native_request_receives(cancelled)) {
        g->is_inside = 0; /* the MPI's own matter */
        guest.me->frame = 0;
        guest_go_out();
        return 0;
    }
    guest_clock_stop();
    if (g->is_idle)
        return 1; /* sends are not cancelled: mostly the real MPI cannot */
    if (g->call.fn == MPI_FN_COMM_SPLIT_TYPE)
        guest_split_type(g);
    if (native_does(&g->call)->kind == MPI_DOES_FINALIZE)
        guest_session_keep(g);
    g->call.enter = guest.me->computed;
    native_seen_enter(&guest.me->lane, &g->call);
    g->is_wrong = g->is_wrong || guest_is_wrong(g);
    if (guest.is_real && !g->is_wrong)
        guest_told_enter(g);
    guest.me->is_clock_known = 0;
    guest.me->readings = 0;
    g->is_early = !g->is_wrong && is_early(g->call.fn);
    if (g->is_early) {
        native_seen_early(&guest.me->lane, &g->call);
        guest_count(1);
        guest.me->has_asked = 0;
        guest_show(1);
    }
    return 1;
}

/* Functions that concern the MPI itself, not messages. */
static enum guest_kind kind_of_other(enum mpi_fn fn)
{
    switch (fn) {
    case MPI_FN_SESSION_INIT:
        return GUEST_OPENS_SESSION;
    case MPI_FN_SESSION_FINALIZE:
        return GUEST_CLOSES_SESSION;
    case MPI_FN_GROUP_FROM_SESSION_PSET:
        return GUEST_FINDS_GROUP;
    case MPI_FN_SESSION_GET_PSET_INFO:
        return GUEST_FINDS_INFO;
    case MPI_FN_INITIALIZED:
    case MPI_FN_FINALIZED:
        return GUEST_TELLS_STATE;
    case MPI_FN_COMM_SET_ERRHANDLER:
        return GUEST_SETS_HANDLER;
    case MPI_FN_COMM_CREATE_ERRHANDLER:
    case MPI_FN_ERRHANDLER_CREATE:
    case MPI_FN_COMM_CREATE_KEYVAL:
    case MPI_FN_KEYVAL_CREATE:
        return GUEST_PASSES_FUNCTIONS;
    default:
        return GUEST_PLAIN;
    }
}

static enum guest_kind kind_of_receive(const struct mpi_effect *f)
{
    if (f->is_partitioned)
        return GUEST_PLAIN;
    return f->is_matched                  ? GUEST_TAKES_MATCHED
           : f->form == MPI_FORM_BLOCKING ? GUEST_RECEIVES
                                          : GUEST_POSTS;
}

static enum guest_kind kind_of_completion(const struct mpi_effect *f)
{
    if (f->form == MPI_FORM_POLLING)
        return GUEST_TESTS;
    return f->amount == MPI_AMOUNT_ONE || f->amount == MPI_AMOUNT_ALL ? GUEST_WAITS
                                                                      : GUEST_WAITS_SOME;
}

enum guest_kind guest_kind(enum mpi_fn fn)
{
    const struct mpi_effect *f = &mpi_fn_effect[fn];
    int polls = f->form == MPI_FORM_POLLING;
    switch (f->kind) {
    case MPI_DOES_LOCAL:
        return kind_of_other(fn);
    case MPI_DOES_INIT:
        return GUEST_STARTS;
    case MPI_DOES_FINALIZE:
        return GUEST_FINALIZES;
    case MPI_DOES_ABORT:
        return GUEST_ABORTS;
    case MPI_DOES_START:
    case MPI_DOES_RELEASE:
        return GUEST_POSTS;
    case MPI_DOES_RECEIVE:
    case MPI_DOES_EXCHANGE:
        return kind_of_receive(f);
    case MPI_DOES_PROBE:
        return polls ? GUEST_LOOKS : GUEST_RECEIVES;
    case MPI_DOES_COMPLETE:
    case MPI_DOES_INQUIRE:
        return kind_of_completion(f);
    case MPI_DOES_CANCEL:
        return GUEST_CANCELS;
    default:
        return polls ? GUEST_TESTS_OTHER : GUEST_PLAIN; /* of windows and partitions */
    }
}

static int does(struct guest_call *g)
{
    static int (*const functions[])(struct guest_call *) = {
        [GUEST_STARTS] = guest_init,
        [GUEST_FINALIZES] = guest_finalize,
        [GUEST_OPENS_SESSION] = guest_session,
        [GUEST_ABORTS] = guest_abort,
        [GUEST_CLOSES_SESSION] = guest_session_end,
        [GUEST_FINDS_GROUP] = guest_session_group,
        [GUEST_FINDS_INFO] = guest_session_info,
        [GUEST_TELLS_STATE] = guest_session_state,
        [GUEST_SETS_HANDLER] = guest_errhandler,
        [GUEST_PASSES_FUNCTIONS] = guest_callbacks,
        [GUEST_POSTS] = guest_hold,
        [GUEST_RECEIVES] = guest_receive,
        [GUEST_LOOKS] = guest_receive,
        [GUEST_TAKES_MATCHED] = guest_take_matched,
        [GUEST_WAITS] = guest_complete,
        [GUEST_WAITS_SOME] = guest_complete,
        [GUEST_TESTS] = guest_complete,
        [GUEST_CANCELS] = guest_cancel,
        [GUEST_TESTS_OTHER] = guest_test,
    };
    enum guest_kind kind = guest_kind(g->call.fn);
    if (g->tells)
        return guest_told_call(g);
    if (g->is_kept)
        return guest_session_barrier(g);
    if (kind != GUEST_PLAIN && (guest.is_open ? !g->is_wrong : kind <= GUEST_OPENS_SESSION))
        return functions[kind](g);
    if (!guest.is_open || !g->is_early)
        return 0;
    if (guest_block(g))
        return 1;
    guest_flush_blocking();
    return 0;
}

int guest_does(struct guest_call *g)
{
    if (g->is_idle || does(g))
        return 1;
    if (g->is_early)
        guest_go(); /* for as long as the real call takes */
    return 0;
}

int guest_leave(struct guest_call *g)
{
    guest_come_back();
    if (guest.is_open && !guest.is_over && !g->is_idle) {
        if (g->tells)
            guest_told_leave(g);
        guest_pair_leave(g);
        int rc = g->is_void && g->rc == MPI_SUCCESS ? MPI_ERR_GROUP : g->rc; /* as recorded */
        guest.me->failures += rc != MPI_SUCCESS;
        guest.may_forgive |= makes_handler(g->call.fn);
        if (g->is_early) {
            if (guest_must_follow() && !guest.me->has_asked && g->rc == MPI_SUCCESS)
                guest_follow();
            native_seen_late(&guest.me->lane, &g->call, g->rc);
            guest_count(0);
            guest_show(0);
        } else {
            native_seen_leave(&guest.me->lane, &g->call, rc, guest.me->computed);
        }
        guest_pair_numbered();
        if (guest.is_real)
            guest_told_numbered(g);
        else
            guest_held_numbered();
        if (g->rc == MPI_SUCCESS)
            guest_see_attribute(g);
        guest_flush_old();
    }
    g->is_inside = 0;
    guest.me->frame = 0;
    guest_clock_start();
    guest_go_out();
    return g->rc;
}
