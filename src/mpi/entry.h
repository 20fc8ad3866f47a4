/*
 * entry.h - what every generated MPI entry point does before and after its work.
 *
 * Entering charges the program's time since the last call; leaving counts the call and the virtual
 * time spent in it, and starts the next slice of program time.
 */
#ifndef MPI_ENTRY_H
#define MPI_ENTRY_H

#include "mpi/clock.h"
#include "mpi/error.h"
#include "mpi/observe.h"
#include "mpi/rank.h"
#include "mpi/thread.h"

#define ORR_EXPORT __attribute__((visibility("default")))

/* Called outside a rank, or outside Init..Finalize: reports it and ends the run, or the process if
 * a rank has forked it. */
_Noreturn void mpi_enter_refused(struct mpi_rank *self, enum mpi_fn fn);

/* The run ends at a time before the rank's clock: serves the other ranks and never returns
 * (switches). */
_Noreturn void mpi_serve(struct mpi_rank *self);

/* Several processes: makes sure that they get what was sent to them before the rank computes for
 * long (may switch). */
void mpi_share_enter(void);
void mpi_share_leave(struct mpi_rank *self);
/* Of the hostile build: may let other ranks go first (may switch). */
void mpi_share_yield(struct mpi_rank *self);

/* Argument `which` of a call is invalid: raises an error that says why, and returns its class
 * (comm/refuse.c). The arguments are passed as words. */
int mpi_args_refused(struct mpi_rank *self, enum mpi_fn fn, const uint64_t *args, int which)
    __attribute__((cold));
#define MPI_ARGS_ARE_WRONG(condition) __builtin_expect((condition), 0)

/* For the checks of arguments (comm/refuse.c): the number of ranks in the caller's group, of its
 * peers, its sources and its destinations; whether there is no such root, and whether the caller is
 * the root. All return 0 for a handle that is no communicator of the rank, or has no topology: the
 * implementations check that. */
int mpi_arg_size(const struct mpi_rank *self, MPI_Comm);
int mpi_arg_peers(const struct mpi_rank *self, MPI_Comm);
int mpi_arg_indegree(const struct mpi_rank *self, MPI_Comm);
int mpi_arg_outdegree(const struct mpi_rank *self, MPI_Comm);
int mpi_arg_is_no_root(MPI_Comm, int root);
int mpi_arg_is_root(const struct mpi_rank *self, MPI_Comm, int root);

/* The position of the first negative item; -1: there is none. */
int64_t mpi_arg_negative_int(const int *at, int64_t count);
int64_t mpi_arg_negative_count(const MPI_Count *at, int64_t count);
#define MPI_ARG_HAS_NEGATIVE(at, count) \
    (_Generic((at), const int *: mpi_arg_negative_int, int *: mpi_arg_negative_int, \
              default: mpi_arg_negative_count)((at), (count)) >= 0)

/* What entries do if mpi_world.attentive is set. */
void mpi_enter_attentive(struct mpi_rank *self, enum mpi_fn fn);
void mpi_leave_attentive(struct mpi_rank *self, enum mpi_fn fn);

/* Always inlined in all entries, despite their number: only a few instructions remain. */
#define MPI_ENTRY_INLINE __attribute__((always_inline)) static inline

MPI_ENTRY_INLINE struct mpi_rank *mpi_enter_anytime(enum mpi_fn fn)
{
    struct mpi_rank *self = mpi_self();

    if (__builtin_expect(!self, 0))
        mpi_enter_refused(NULL, fn);
    if (__builtin_expect(mpi_world.attentive, 0))
        mpi_enter_attentive(self, fn);
    self->fn = (uint16_t)fn;
    mpi_clock_readings = 0;
    return self;
}

MPI_ENTRY_INLINE struct mpi_rank *mpi_enter(enum mpi_fn fn)
{
    struct mpi_rank *self = mpi_enter_anytime(fn);

    if (__builtin_expect(mpi_world.parking, 0) &&
        self->ent.clock > engine_ended_by(&mpi_world.engine).due)
        mpi_serve(self);
    if (__builtin_expect(self->phase != MPI_PHASE_ACTIVE, 0))
        mpi_enter_refused(self, fn);
    return self;
}

static inline vtime mpi_clock(const struct mpi_rank *self)
{
    return self->ent.clock;
}

MPI_ENTRY_INLINE void mpi_leave(struct mpi_rank *self, enum mpi_fn fn, vtime t0)
{
    mpi_stats_call(self, fn, self->ent.clock - t0);
    if (__builtin_expect(mpi_world.attentive, 0))
        mpi_leave_attentive(self, fn);
}

#endif
