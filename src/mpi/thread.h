/*
 * thread.h - several threads of one rank (process host only).
 *
 * All threads of a rank share its clock. One of them at a time is inside the virtual MPI, and only
 * while the rank has the turn; so the rest of the virtual MPI knows nothing about threads. A thread
 * that has to wait lets the others in. When all threads wait, here or in the operating system, the
 * rank is blocked; while some still compute, other ranks run in between, but nothing is decided
 * before the rank is blocked.
 */
#ifndef MPI_THREAD_H
#define MPI_THREAD_H

#include "mpi/rank.h"

/* Call these around everything that touches the rank; may be nested. Enter waits for the rank's
 * turn. So does a rank with one thread that runs without the turn (main/emulate.h). */
void mpi_thread_enter_slow(void);
void mpi_thread_leave_slow(int quiet);

static inline void mpi_thread_enter(void)
{
    if (__builtin_expect(vp_private.threaded | mpi_world.paced, 0))
        mpi_thread_enter_slow();
}
/* Called after a call, or (quiet) after something that cannot affect waiting threads. */
static inline void mpi_thread_leave(enum mpi_fn fn)
{
    if (__builtin_expect(vp_private.threaded | mpi_world.paced, 0))
        mpi_thread_leave_slow(mpi_fn_flags[fn] & MPI_FNFLAG_QUIET);
}
static inline void mpi_thread_leave_quietly(void)
{
    if (__builtin_expect(vp_private.threaded | mpi_world.paced, 0))
        mpi_thread_leave_slow(1);
}

/* The rank is about to start its first thread. */
void mpi_thread_begin(void);

/* What engine_block and suspending are for a rank with one thread. Returns when something may have
 * happened; with `holds`, which other threads may call, only once that is true. `due` is then the
 * result of mpi_decide. */
void mpi_thread_block(struct mpi_rank *self, vtime due, uint32_t wake_after, mpi_holds *holds,
                      const void *arg);

#endif
