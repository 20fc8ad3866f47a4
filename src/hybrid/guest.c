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
    if (g->call.fn == MPI_FN_FINALIZE)
        guest_session_keep(g);
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
static const uint8_t kinds[MPI_FN_COUNT] = {
    [MPI_FN_INIT] = GUEST_STARTS,
    [MPI_FN_INIT_THREAD] = GUEST_STARTS,
    [MPI_FN_FINALIZE] = GUEST_FINALIZES,
    [MPI_FN_SESSION_INIT] = GUEST_OPENS_SESSION,
    [MPI_FN_ABORT] = GUEST_ABORTS,
    [MPI_FN_SESSION_FINALIZE] = GUEST_CLOSES_SESSION,
    [MPI_FN_GROUP_FROM_SESSION_PSET] = GUEST_FINDS_GROUP,
    [MPI_FN_SESSION_GET_PSET_INFO] = GUEST_FINDS_INFO,
    [MPI_FN_INITIALIZED] = GUEST_TELLS_STATE,
    [MPI_FN_FINALIZED] = GUEST_TELLS_STATE,
    [MPI_FN_COMM_SET_ERRHANDLER] = GUEST_SETS_HANDLER,
    [MPI_FN_COMM_CREATE_ERRHANDLER] = GUEST_PASSES_FUNCTIONS,
    [MPI_FN_ERRHANDLER_CREATE] = GUEST_PASSES_FUNCTIONS,
    [MPI_FN_COMM_CREATE_KEYVAL] = GUEST_PASSES_FUNCTIONS,
    [MPI_FN_KEYVAL_CREATE] = GUEST_PASSES_FUNCTIONS,
    [MPI_FN_IRECV] = GUEST_POSTS,
    [MPI_FN_IRECV_C] = GUEST_POSTS,
    [MPI_FN_ISENDRECV] = GUEST_POSTS,
    [MPI_FN_ISENDRECV_C] = GUEST_POSTS,
    [MPI_FN_ISENDRECV_REPLACE] = GUEST_POSTS,
    [MPI_FN_ISENDRECV_REPLACE_C] = GUEST_POSTS,
    [MPI_FN_RECV_INIT] = GUEST_POSTS,
    [MPI_FN_RECV_INIT_C] = GUEST_POSTS,
    [MPI_FN_START] = GUEST_POSTS,
    [MPI_FN_STARTALL] = GUEST_POSTS,
    [MPI_FN_REQUEST_FREE] = GUEST_POSTS,
    [MPI_FN_RECV] = GUEST_RECEIVES,
    [MPI_FN_RECV_C] = GUEST_RECEIVES,
    [MPI_FN_SENDRECV] = GUEST_RECEIVES,
    [MPI_FN_SENDRECV_C] = GUEST_RECEIVES,
    [MPI_FN_SENDRECV_REPLACE] = GUEST_RECEIVES,
    [MPI_FN_SENDRECV_REPLACE_C] = GUEST_RECEIVES,
    [MPI_FN_PROBE] = GUEST_RECEIVES,
    [MPI_FN_MPROBE] = GUEST_RECEIVES,
    [MPI_FN_MRECV] = GUEST_TAKES_MATCHED,
    [MPI_FN_MRECV_C] = GUEST_TAKES_MATCHED,
    [MPI_FN_IMRECV] = GUEST_TAKES_MATCHED,
    [MPI_FN_IMRECV_C] = GUEST_TAKES_MATCHED,
    [MPI_FN_IPROBE] = GUEST_LOOKS,
    [MPI_FN_IMPROBE] = GUEST_LOOKS,
    [MPI_FN_WAIT] = GUEST_WAITS,
    [MPI_FN_WAITALL] = GUEST_WAITS,
    [MPI_FN_WAITANY] = GUEST_WAITS_SOME,
    [MPI_FN_WAITSOME] = GUEST_WAITS_SOME,
    [MPI_FN_TEST] = GUEST_TESTS,
    [MPI_FN_TESTALL] = GUEST_TESTS,
    [MPI_FN_TESTANY] = GUEST_TESTS,
    [MPI_FN_TESTSOME] = GUEST_TESTS,
    [MPI_FN_REQUEST_GET_STATUS] = GUEST_TESTS,
    [MPI_FN_CANCEL] = GUEST_CANCELS,
    [MPI_FN_WIN_TEST] = GUEST_TESTS_OTHER,
    [MPI_FN_PARRIVED] = GUEST_TESTS_OTHER,
};

enum guest_kind guest_kind(enum mpi_fn fn)
{
    return (enum guest_kind)kinds[fn];
}

int guest_does(struct guest_call *g)
{
    static int (*const does[])(struct guest_call *) = {
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
        return does[kind](g);
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
