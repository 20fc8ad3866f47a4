/*
 * guest_sessions.c - sessions (MPI-4.0, 11.3): programs that use MPI without MPI_Init.
 *
 * The simulator is joined by MPI_Init, so the first session of a program calls that of the real
 * MPI, which the program does not see. The stand-in needs no sessions: it makes the calls that
 * communicate. A process may open sessions until it ends, so the simulator is left then, and
 * MPI_Finalize of a program with sessions is a barrier.
 */
#include <stdio.h>
#include <stdlib.h>

#include "hybrid/guest.h"

static struct {
    int count, is_used;               /* open sessions; there were some */
    int is_joined;                    /* MPI_Init was called for one */
    int is_initialised, is_finalised; /* what the program sees, if so */
    int is_ending;
} sessions;

/* What is left open has failed, as the process has: others may not end. */
static void on_end(int status, void *unused)
{
    (void)unused;
    if (status || sessions.count || !guest.is_open || guest.is_over ||
        (!sessions.is_joined && !sessions.is_finalised))
        return;
    sessions.is_ending = 1;
    MPI_Finalize();
}

/* ---- the beginning and the end ---- */

static int join(void)
{
    int provided, rc = guest_join(NULL, NULL, MPI_THREAD_SERIALIZED, &provided);
    static const uint64_t none[4];
    struct native_call init = {.fn = MPI_FN_INIT, .args = none};
    if (rc != MPI_SUCCESS)
        return rc;
    sessions.is_joined = 1;
    native_seen_enter(&guest.me->lane, &init); /* the stand-in's first call */
    native_seen_leave(&guest.me->lane, &init, rc, guest.me->computed);
    return rc;
}

int guest_session(struct guest_call *g)
{
    const uint64_t *a = g->call.args;
    if (!guest.is_open) {
        g->rc = join();
        if (g->rc != MPI_SUCCESS)
            return 1;
        native_seen_enter(&guest.me->lane, &g->call);
    }
    if (!sessions.is_used)
        on_exit(on_end, NULL);
    sessions.is_used = 1;
    g->rc = native_real.MPI_Session_init((MPI_Info)a[0], (MPI_Errhandler)a[1],
                                         (MPI_Session *)(uintptr_t)a[2]);
    sessions.count += g->rc == MPI_SUCCESS;
    return 1;
}

int guest_session_end(struct guest_call *g)
{
    g->rc = native_real.MPI_Session_finalize((MPI_Session *)(uintptr_t)g->call.args[0]);
    sessions.count -= g->rc == MPI_SUCCESS;
    return 1;
}

int guest_session_world(int required, int *provided)
{
    if (!sessions.is_joined || sessions.is_initialised)
        return native_real.MPI_Init(NULL, NULL); /* which refuses it */
    sessions.is_initialised = 1;
    *provided = required < MPI_THREAD_SERIALIZED ? required : MPI_THREAD_SERIALIZED;
    return MPI_SUCCESS;
}

void guest_session_keep(struct guest_call *g)
{
    if (!sessions.is_used || sessions.is_ending)
        return;
    g->is_kept = 1;
    g->other[0] = (uint64_t)MPI_COMM_WORLD;
    g->call.args = g->other;
    g->call.fn = MPI_FN_BARRIER;
}

int guest_session_barrier(struct guest_call *g)
{
    guest_flush_blocking();
    GUEST_BLOCKING(g->rc = native_real.MPI_Barrier(native.world_comm));
    sessions.is_finalised = 1;
    return 1;
}

/* MPI_Initialized and MPI_Finalized. */
int guest_session_state(struct guest_call *g)
{
    int *flag = (int *)(uintptr_t)g->call.args[0];
    if (!sessions.is_used)
        return 0;
    *flag = g->call.fn == MPI_FN_FINALIZED ? sessions.is_finalised
                                           : sessions.is_initialised || !sessions.is_joined;
    g->rc = MPI_SUCCESS;
    return 1;
}

/* ---- process sets, without the simulator ---- */

/* The program's processes come first. */
int guest_session_group(struct guest_call *g)
{
    const uint64_t *a = g->call.args;
    MPI_Group all, *group = (MPI_Group *)(uintptr_t)a[2];
    int range[1][3] = {{0, (int)guest.ranks - 1, 1}}, size = 0;
    g->rc = native_real.MPI_Group_from_session_pset((MPI_Session)a[0],
                                                    (const char *)(uintptr_t)a[1], &all);
    if (g->rc != MPI_SUCCESS)
        return 1;
    *group = all;
    native_real.MPI_Group_size(all, &size);
    if ((uint32_t)size > guest.ranks) {
        g->rc = native_real.MPI_Group_range_incl(all, 1, range, group);
        native_real.MPI_Group_free(&all);
    }
    return 1;
}

int guest_session_info(struct guest_call *g)
{
    const uint64_t *a = g->call.args;
    char text[16] = "";
    int has_size = 0;
    MPI_Info *info = (MPI_Info *)(uintptr_t)a[2];
    g->rc = native_real.MPI_Session_get_pset_info((MPI_Session)a[0], (const char *)(uintptr_t)a[1],
                                                  info);
    if (g->rc != MPI_SUCCESS)
        return 1;
    native_real.MPI_Info_get(*info, "mpi_size", sizeof text - 1, text, &has_size);
    if (has_size && strtoul(text, NULL, 10) > guest.ranks) {
        snprintf(text, sizeof text, "%u", guest.ranks);
        native_real.MPI_Info_set(*info, "mpi_size", text);
    }
    return 1;
}
