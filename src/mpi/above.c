/*
 * above.c - the state of the process, and calls into subfolders above the caller's (see above.h).
 */
#include "mpi/above.h"

#include "mpi/clock.h"
#include "mpi/error.h"
#include "mpi/side.h"
#include "mpi/procs.h"
#include "mpi/thread.h"

struct mpi_world mpi_world;
struct mpi_strand *mpi_strand_current;
struct mpi_side *mpi_side_current;

void mpi_side_block(vtime due, mpi_holds *holds, const void *arg)
{
    mpi_side_current->due = due;
    mpi_side_current->holds = holds;
    mpi_side_current->arg = arg;
    mpi_side_current->state = MPI_SIDE_BLOCKED;
    vp_side_suspend();
}

void mpi_side_explained(void)
{
    if (mpi_side_current)
        vp_side_suspend();
    else
        vp_suspend();
}

void mpi_abort_run(struct mpi_rank *self, int code, const char *why)
{
    mpi_world.above->abort_run(self, code, why);
}

void mpi_procs_item(uint32_t to, int tag, const void *data, size_t bytes)
{
    mpi_world.above->run_item(to, tag, data, bytes);
}

void mpi_procs_spawned(uint32_t rank, vtime when)
{
    mpi_world.above->run_spawned(rank, when);
}

void mpi_thread_enter_slow(void)
{
    mpi_world.above->thread_enter();
}

void mpi_thread_leave_slow(int quiet)
{
    mpi_world.above->thread_leave(quiet);
}

vtime mpi_clock_peek(const struct mpi_rank *self)
{
    return mpi_world.above->peek(self);
}

void mpi_clock_yield(struct mpi_rank *self)
{
    mpi_world.above->yield(self);
}

void mpi_verify_match(const struct mpi_rank *self, const struct mpi_req *req,
                      const struct mpi_msg *m)
{
    mpi_world.above->verify_match(self, req, m);
}

void mpi_verify_coll(struct mpi_rank *self, const struct mpi_comm *c, const struct mpi_coll_args *a,
                     enum mpi_verify_way way)
{
    mpi_world.above->verify_coll(self, c, a, way);
}

void mpi_verify_parts(const struct mpi_rank *self, const struct mpi_req *r, uint64_t sent,
                      uint64_t received)
{
    mpi_world.above->verify_parts(self, r, sent, received);
}
