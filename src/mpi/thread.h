/*
 * thread.h - several threads of one rank (process host only).
 *
 * All threads of a rank share its clock. One of them at a time is inside the virtual MPI, and only while
 * the rank has its turn; so the rest of the virtual MPI knows nothing of threads. A thread that has to
 * wait lets the others in. When all threads wait, here or in the operating system, the rank is
 * blocked; while some still compute, other ranks run in between, but nothing is decided before the
 * rank has come to rest.
 */
#ifndef MPI_THREAD_H
#define MPI_THREAD_H

#include "mpi/rank.h"

/* Around everything that touches the rank; may be nested. Enter waits for the rank's turn. */
void mpi_thread_enter_slow(void);
void mpi_thread_leave_slow(int quiet);

static inline void mpi_thread_enter(void)
{
    if (__builtin_expect(vp_private.threaded, 0))
        mpi_thread_enter_slow();
}
/* After a call, or (quiet) after something that is of no use to threads that wait. */
static inline void mpi_thread_leave(enum mpi_fn fn)
{
    if (__builtin_expect(vp_private.threaded, 0))
        mpi_thread_leave_slow(mpi_fn_flags[fn] & MPI_FNFLAG_QUIET);
}
static inline void mpi_thread_leave_quietly(void)
{
    if (__builtin_expect(vp_private.threaded, 0))
        mpi_thread_leave_slow(1);
}

/* The rank is about to start its first thread. */
void mpi_thread_begin(void);

/* What engine_block and suspending are to a rank of one thread. Returns when something may have
 * happened; with `holds`, which other threads may ask, not before that is so. `due` is then what
 * mpi_decide says. */
void mpi_thread_block(struct mpi_rank *self, vtime due, uint32_t wake_after, mpi_holds *holds,
                      const void *arg);

#endif
