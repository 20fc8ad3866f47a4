/*
 * guest_start.c - the beginning and the end: MPI_Init joins the simulator and makes the
 * communicator that the program gets for MPI_COMM_WORLD; MPI_Finalize leaves.
 */
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/array.h"
#include "base/log.h"
#include "base/mem.h"
#include "hybrid/guest.h"
#include "mpi_roles.h"

#define GROUP_TAG 0
#define ABORT_S 10 /* for the simulator to end everything */

/* Before the first call: nothing of MPI may be called yet. */
void guest_begin(void)
{
    native_find_all();
    native.is_ready = 1;
}

/* ---- MPI_Init ---- */

/* More processes on this computer than processors. */
static int is_crowded(void)
{
    MPI_Comm here;
    int count = 0;
    cpu_set_t set;
    native_real.MPI_Comm_split_type(native.world_comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL,
                                    &here);
    native_real.MPI_Comm_size(here, &count);
    native_real.MPI_Allreduce(&native.self, &guest.first_here, 1, MPI_INT, MPI_MIN, here);
    native_real.MPI_Comm_free(&here);
    CPU_ZERO(&set);
    sched_getaffinity(0, sizeof set, &set);
    return count >= CPU_COUNT(&set); /* the simulator needs one, too */
}

static void make_world(void)
{
    MPI_Group all;
    int range[1][3];
    native_real.MPI_Comm_group(MPI_COMM_WORLD, &all);
    range[0][0] = 0, range[0][1] = (int)guest.ranks - 1, range[0][2] = 1;
    native_real.MPI_Group_range_incl(all, 1, range, &native.world);
    native_real.MPI_Group_free(&all);
    native_real.MPI_Comm_create_group(MPI_COMM_WORLD, native.world, GROUP_TAG, &native.world_comm);
    native_real.MPI_Comm_set_name(native.world_comm, "MPI_COMM_WORLD");
    native_real.MPI_Comm_dup(native.world_comm, &guest.quiet);
    native_real.MPI_Comm_set_errhandler(guest.quiet, MPI_ERRORS_RETURN);
    native.size = (int)guest.ranks;
    native_real.MPI_Comm_rank(native.world_comm, &native.self);
}

/* Communicators are created again by the stand-ins: they need no lists of members. */
static void define(unsigned kind, const void *payload, size_t bytes)
{
    (void)kind, (void)payload, (void)bytes;
}

static void open_streams(void)
{
    static struct recorder_mpi mpi;
    map_init(&native.comms);
    map_init(&native.messages);
    map_init(&native.by_handle);
    map_init(&native.by_place);
    trace_header_init(&native.header, (uint64_t)native.size);
    mpi = native_objects(define);
    recorder_init(&native.header, &mpi);
    recorder_rank_init(&native.rank, &guest.sink, (uint64_t)native.self);
    guest.me->lane.recorder = &native.rank.lane;
    native.may_ask = native.may_ask_builtin = 1;
    native.is_open = guest.is_open = 1;
}

int guest_join(int *argc, char ***argv, int required, int *provided)
{
    guest_top_mark();
    int rc = native_real.MPI_Init_thread(argc, argv, required, provided);
    if (rc != MPI_SUCCESS)
        return rc;
    *provided = *provided < required ? *provided : required;
    guest_is_first(1);
    guest_link_open();
    make_world();
    open_streams();
    if (*provided == MPI_THREAD_MULTIPLE)
        guest_threads_begin();
    guest_clock_init(is_crowded());
    guest.me->computed = 0;
    return rc;
}

int guest_init(struct guest_call *g)
{
    int has_level = g->call.fn == MPI_FN_INIT_THREAD, provided = MPI_THREAD_SINGLE;
    int required = has_level ? (int)g->call.args[2] : MPI_THREAD_SINGLE;
    if (guest.is_open) { /* a session has joined the simulator */
        g->rc = guest_session_world(required, &provided);
    } else {
        g->rc = guest_join((int *)(uintptr_t)g->call.args[0], (char ***)(uintptr_t)g->call.args[1],
                           required, &provided);
        if (g->rc == MPI_SUCCESS)
            native_seen_enter(&guest.me->lane, &g->call); /* the stand-in's first call */
    }
    if (has_level && g->rc == MPI_SUCCESS)
        *(int *)(uintptr_t)g->call.args[3] = provided;
    return 1;
}

/* The MPI handles errors that belong to no object as MPI_COMM_WORLD does: the real one. */
int guest_errhandler(struct guest_call *g)
{
    const uint64_t *a = g->call.args;
    if ((MPI_Comm)a[0] == MPI_COMM_WORLD)
        native_real.MPI_Comm_set_errhandler(MPI_COMM_WORLD, (MPI_Errhandler)a[1]);
    return 0;
}

/* The simulator waits in MPI_Init for this process, and must end. */
_Noreturn static void refuse(const char *why)
{
    guest_try_enter();
    guest_top_mark(); /* this is the end */
    guest_top_fail(2);
    if (getenv("PMI_RANK") == NULL || strcmp(getenv("PMI_RANK"), "0") == 0)
        log_error("%s", why);
    if (!native_real.MPI_Init)
        raise(SIGKILL); /* the launcher then ends all others */
    native_real.MPI_Init(NULL, NULL);
    native_real.MPI_Abort(MPI_COMM_WORLD, 2);
    exit(2);
}

/* The process is about to end. */
static void __attribute__((destructor)) unload(void)
{
    if (!guest_top_is_unmarked())
        return;
    if (!native.is_ready)
        guest_begin();
    if (!native_real.MPI_Init && native_load())
        native_find_all();
    refuse("the program has ended without MPI_Init: there is nothing to simulate");
}

/* A shell ends in this way. */
ORR_EXPORT _Noreturn void _exit(int status)
{
    unload();
    guest_top_end(status);
    for (;;)
        syscall(SYS_exit_group, status);
}

/* Who shares memory is a fact of the real machine: the stand-ins split by it. */
void guest_split_type(struct guest_call *g)
{
    const uint64_t *a = g->call.args;
    g->other[0] = a[0];
    g->other[1] = (uint64_t)((int)a[1] == MPI_UNDEFINED ? MPI_UNDEFINED : guest.first_here);
    g->other[2] = a[2];
    g->other[3] = a[4];
    g->call.args = g->other;
    g->call.fn = MPI_FN_COMM_SPLIT;
}

/* ---- the end ---- */

/* MPI_Finalize deletes the attributes of MPI_COMM_SELF first, the last one that was set before the
 * others. The functions of the program that it calls may communicate, so this is done while the
 * simulator is there. */
static struct {
    int *keys;
    uint32_t count, room;
} attributes;

static uint32_t find_attribute(int key)
{
    uint32_t i = 0;
    while (i < attributes.count && attributes.keys[i] != key)
        i++;
    return i;
}

void guest_see_attribute(const struct guest_call *g)
{
    const uint64_t *a = g->call.args;
    enum mpi_fn fn = g->call.fn;
    int is_set = fn == MPI_FN_COMM_SET_ATTR || fn == MPI_FN_ATTR_PUT,
        is_deleted = fn == MPI_FN_COMM_DELETE_ATTR || fn == MPI_FN_ATTR_DELETE;
    if ((!is_set && !is_deleted) || (MPI_Comm)a[0] != MPI_COMM_SELF)
        return;
    uint32_t at = find_attribute((int)a[1]);
    if (is_set && at == attributes.count) {
        ARRAY_RESERVE(attributes.keys, attributes.room, attributes.count + 1, 16);
        attributes.keys[attributes.count++] = (int)a[1];
    } else if (is_deleted && at < attributes.count) {
        attributes.count--;
        for (; at < attributes.count; at++)
            attributes.keys[at] = attributes.keys[at + 1];
    }
}

void guest_delete_attributes(void)
{
    while (attributes.count)
        native_real.MPI_Comm_delete_attr(MPI_COMM_SELF, attributes.keys[--attributes.count]);
}

int guest_finalize(struct guest_call *g)
{
    if (guest.is_open) {
        guest_flush(HYBRID_ASK_NOTHING, 1);
        guest_link_close(); /* functions that MPI_Finalize calls may still use the communicators */
    }
    g->rc = native_real.MPI_Finalize();
    guest.is_over = 1;
    return 1;
}

/* The stand-in aborts, the simulation ends, and with it everything. */
int guest_abort(struct guest_call *g)
{
    guest_flush(HYBRID_ASK_NOTHING, 0);
    guest_top_fail((int)g->call.args[1]);
    for (unsigned left = ABORT_S; left;)
        left = sleep(left);
    g->rc = native_real.MPI_Abort(MPI_COMM_WORLD, (int)g->call.args[1]);
    return 1;
}
