/*
 * guest.c - the calls of the program.
 */
#include "hybrid/guest.h"

#include <string.h>

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

/* ---- a call ---- */

/* The program's error handler has left the last call by a jump, or an exception: what MPI calls by
 * itself, in callbacks, is deeper in the stack. */
static void leave_abandoned(const struct guest_call *g)
{
    if (!guest.frame || (uintptr_t)g < guest.frame)
        return;
    guest.frame = 0;
    guest.is_inside = 0;
    guest.failures++;
    guest_show(0);
    guest_clock_start();
}

int guest_enter(struct guest_call *g)
{
    leave_abandoned(g);
    if (guest.is_inside || guest.is_over)
        return 0;
    if (!native.is_ready)
        guest_begin();
    guest.is_inside = 1;
    if (!guest.is_open)
        return 1;
    guest.frame = (uintptr_t)g;
    if (g->call.fn == MPI_FN_CANCEL &&
        !native_request_receives((const uint32_t *)(uintptr_t)g->call.args[0])) {
        guest.is_inside = 0; /* sends are not cancelled: the real MPI cannot */
        guest.frame = 0;
        return 0;
    }
    guest_clock_stop();
    if (g->call.fn == MPI_FN_COMM_SPLIT_TYPE)
        guest_split_type(g);
    g->call.enter = guest.computed;
    if (guest.is_real)
        guest_told_enter(g);
    native_seen_enter(&guest.lane, &g->call);
    guest.is_clock_known = 0;
    g->is_early = guest.how[g->call.fn] == GUEST_EARLY;
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

/* The program passes no address for what it asks: the real MPI returns an error. */
static int lacks_result(const struct guest_call *g)
{
    const struct native_fn *f = &native.fns[g->call.fn];
    return (f->flag >= 0 && !g->call.args[f->flag]) || (f->index >= 0 && !g->call.args[f->index]) ||
           (f->request >= 0 && !g->call.args[f->request]);
}

int guest_does(struct guest_call *g)
{
    if (g->tells)
        return guest_told_call(g);
    int (*does)(struct guest_call *) = guest.is_open && lacks_result(g) ? NULL
                                                                        : special(g->call.fn);
    if (does &&
        (guest.is_open || does == guest_init || does == guest_finalize || does == guest_session))
        return does(g);
    if (guest.is_open && g->is_early)
        guest_flush(HYBRID_ASK_NOTHING, 0);
    return 0;
}

int guest_leave(struct guest_call *g)
{
    if (guest.is_open && !guest.is_over) {
        if (g->tells)
            guest_told_leave(g);
        guest.failures += g->rc != MPI_SUCCESS;
        if (g->is_early) {
            native_seen_late(&guest.lane, &g->call, g->rc);
            guest_show(0);
        } else {
            native_seen_leave(&guest.lane, &g->call, g->rc, guest.computed);
        }
        if (guest.is_real)
            guest_told_numbered(g);
        else
            guest_held_numbered(g);
        guest_flush_old();
    }
    guest.is_inside = 0;
    guest.frame = 0;
    guest_clock_start();
    return g->rc;
}
