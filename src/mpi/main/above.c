/*
 * above.c - binds subfolders to what they need from higher ones: the table of above.h, and the
 * services (p2p/service.h), each of which is in a subfolder above the queue that calls it.
 */
#include "mpi/above.h"

#include "mpi/check/verify_internal.h"
#include "mpi/coll/coll.h"
#include "mpi/dynamic/ports.h"
#include "mpi/dynamic/spawn.h"
#include "mpi/info.h"
#include "mpi/io/io_internal.h"
#include "mpi/main/emulate.h"
#include "mpi/main/run.h"
#include "mpi/p2p/service.h"
#include "mpi/rma/rma.h"

static const struct mpi_service_ops services[MPI_SERVICE_COUNT] = {
    [MPI_SERVICE_RMA] = {rma_serve, rma_reply, rma_sent},
    [MPI_SERVICE_IO] = {io_serve, io_reply, NULL},
    [MPI_SERVICE_NAMES] = {ports_serve, ports_reply, NULL},
    [MPI_SERVICE_SPAWN] = {spawn_serve, spawn_reply, NULL},
};

static void comm_left(struct mpi_rank *self, const struct mpi_comm *c)
{
    mpi_comm_hints_forget(self, c->handle);
    mpi_coll_forget(self, c->handle);
    if (mpi_world.checking)
        verify_coll_forget(self, c->ctx);
}

#define ABOVE(enter, leave, peeking)                                                       \
    {                                                                                      \
        .abort_run = run_abort, .run_item = run_item, .run_spawned = run_spawned,          \
        .thread_enter = enter, .thread_leave = leave, .yield = p2p_yield, .peek = peeking, \
        .comm_left = comm_left, .verify_match = verify_match, .verify_coll = verify_coll,  \
        .verify_parts = verify_parts, .services = services,                                \
    }
/* Sides need no lock: one of them runs at a time. */
static void side_enter(void)
{
}

static void side_leave(int quiet)
{
    (void)quiet;
}

const struct mpi_above mpi_above_live = ABOVE(side_enter, side_leave, NULL);
const struct mpi_above mpi_above = ABOVE(p2p_thread_enter, p2p_thread_leave, NULL);
const struct mpi_above mpi_above_paced = ABOVE(mpi_emulate_enter, mpi_emulate_leave,
                                               mpi_emulate_peek);
