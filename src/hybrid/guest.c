/*
 * guest.c - the calls of the program.
 */
#include "hybrid/guest.h"

#include <sched.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "mpi_roles.h"
#include "recorder/objects.h"

struct guest guest;

/* What the recorder asks for. */
int64_t native_now(void)
{
    return guest.computed;
}

struct native_lane *native_own_lane(void)
{
    return &guest.lane;
}

/* Communicators are created again by the stand-ins: they need no lists of members. */
void recorder_define(unsigned kind, const void *payload, size_t bytes)
{
    (void)kind, (void)payload, (void)bytes;
}

MPI_Status *native_statuses(struct native_call *c, MPI_Status *statuses)
{
    c->statuses = statuses == MPI_STATUSES_IGNORE ? NULL : statuses;
    return statuses;
}

/* ---- threads ---- */

static _Thread_local char thread; /* its address */

int guest_am_inside(void)
{
    return atomic_load_explicit(&guest.inside, memory_order_relaxed) == &thread;
}

int guest_is_first(int is_this)
{
    static const void *first;
    if (is_this)
        first = &thread;
    return first == &thread;
}

int guest_try_enter(void)
{
    const void *nobody = NULL;
    return atomic_compare_exchange_strong_explicit(&guest.inside, &nobody, &thread,
                                                   memory_order_acquire, memory_order_relaxed);
}

void guest_go_out(void)
{
    atomic_store_explicit(&guest.inside, NULL, memory_order_release);
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
    while (!guest_try_enter()) {
        if (is_for_all_threads(fn))
            return 0;
        if (guest.frame) {
            log_error("two threads of a process call MPI at the same time: 'orrery hybrid' gives "
                      "programs MPI_THREAD_SERIALIZED at most; 'orrery run --host process' "
                      "simulates MPI_THREAD_MULTIPLE");
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
    guest.frame = 0;
    guest.failures++;
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

/* The same for a jump, after which nothing is called: what MPI calls by itself, in callbacks, is
 * deeper in the stack. */
static void leave_abandoned(const struct guest_call *g)
{
    if (guest_am_inside() && guest.frame && (uintptr_t)g >= guest.frame)
        abandon();
}

/* A handler may make a call return no error; one in C++ always does. */
static int makes_handler(enum mpi_fn fn)
{
    return fn == MPI_FN_COMM_CREATE_ERRHANDLER || fn == MPI_FN_ERRHANDLER_CREATE ||
           fn == MPI_FN_WIN_CREATE_ERRHANDLER || fn == MPI_FN_FILE_CREATE_ERRHANDLER;
}

int guest_enter(struct guest_call *g)
{
    leave_abandoned(g);
    if (guest_am_inside() || guest.is_over)
        return 0;
    if (g->call.fn == MPI_FN_FINALIZE && guest.is_open)
        guest_delete_attributes();
    if (!take_turn(g->call.fn))
        return 0;
    if (!native.is_ready)
        guest_begin();
    g->is_inside = 1;
    if (!guest.is_open)
        return 1;
    guest.frame = (uintptr_t)g;
    if (g->call.fn == MPI_FN_CANCEL && !g->is_wrong &&
        !native_request_receives((const uint32_t *)(uintptr_t)g->call.args[0])) {
        g->is_inside = 0; /* sends are not cancelled: the real MPI cannot */
        guest.frame = 0;
        guest_go_out();
        return 0;
    }
    guest_clock_stop();
    if (g->call.fn == MPI_FN_COMM_SPLIT_TYPE)
        guest_split_type(g);
    g->call.enter = guest.computed;
    native_seen_enter(&guest.lane, &g->call);
    g->is_wrong = g->is_wrong || guest_is_wrong(g);
    if (guest.is_real && !g->is_wrong)
        guest_told_enter(g);
    guest.is_clock_known = 0;
    guest.readings = 0;
    g->is_early = guest.how[g->call.fn] == GUEST_EARLY && !g->is_wrong;
    if (g->is_early) {
        native_seen_early(&guest.lane, &g->call);
        guest_show(1);
    }
    return 1;
}

/* Calls whose outcome, or whose way to the real MPI, is another one. */
static int (*special(enum mpi_fn fn))(struct guest_call *)
{
    switch (fn) {
    case MPI_FN_INIT:
    case MPI_FN_INIT_THREAD:
        return guest_init;
    case MPI_FN_FINALIZE:
        return guest_finalize;
    case MPI_FN_SESSION_INIT:
        return guest_session;
    case MPI_FN_ABORT:
        return guest_abort;
    case MPI_FN_COMM_SET_ERRHANDLER:
        return guest_errhandler;
    case MPI_FN_IRECV:
    case MPI_FN_IRECV_C:
    case MPI_FN_ISENDRECV:
    case MPI_FN_ISENDRECV_C:
    case MPI_FN_ISENDRECV_REPLACE:
    case MPI_FN_ISENDRECV_REPLACE_C:
    case MPI_FN_RECV_INIT:
    case MPI_FN_RECV_INIT_C:
    case MPI_FN_START:
    case MPI_FN_STARTALL:
    case MPI_FN_REQUEST_FREE:
        return guest_hold;
    case MPI_FN_RECV:
    case MPI_FN_RECV_C:
    case MPI_FN_SENDRECV:
    case MPI_FN_SENDRECV_C:
    case MPI_FN_SENDRECV_REPLACE:
    case MPI_FN_SENDRECV_REPLACE_C:
    case MPI_FN_PROBE:
    case MPI_FN_MPROBE:
    case MPI_FN_IPROBE:
    case MPI_FN_IMPROBE:
        return guest_receive;
    case MPI_FN_WAIT:
    case MPI_FN_WAITALL:
    case MPI_FN_WAITANY:
    case MPI_FN_WAITSOME:
    case MPI_FN_TEST:
    case MPI_FN_TESTALL:
    case MPI_FN_TESTANY:
    case MPI_FN_TESTSOME:
    case MPI_FN_REQUEST_GET_STATUS:
        return guest_complete;
    case MPI_FN_CANCEL:
        return guest_cancel;
    case MPI_FN_WIN_TEST:
    case MPI_FN_PARRIVED:
        return guest_test;
    default:
        return NULL;
    }
}

int guest_does(struct guest_call *g)
{
    if (g->tells)
        return guest_told_call(g);
    int (*does)(struct guest_call *) = guest.is_open && g->is_wrong ? NULL : special(g->call.fn);
    if (does &&
        (guest.is_open || does == guest_init || does == guest_finalize || does == guest_session))
        return does(g);
    if (guest.is_open && g->is_early)
        guest_flush_blocking();
    return 0;
}

int guest_leave(struct guest_call *g)
{
    if (guest.is_open && !guest.is_over) {
        if (g->tells)
            guest_told_leave(g);
        guest_pair_leave(g);
        guest.failures += g->rc != MPI_SUCCESS;
        guest.may_forgive |= makes_handler(g->call.fn);
        if (g->is_early) {
            native_seen_late(&guest.lane, &g->call, g->rc);
            guest_show(0);
        } else {
            native_seen_leave(&guest.lane, &g->call, g->rc, guest.computed);
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
    guest.frame = 0;
    guest_clock_start();
    guest_go_out();
    return g->rc;
}
