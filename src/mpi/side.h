/*
 * side.h - sides of a rank: the calls of one thread of the process that the rank stands for
 * (`orrery hybrid`, main/live_sides.c), on a stack of their own (vp.h). All sides of a rank share
 * its clock, and one of them runs at a time; so the rest of the virtual MPI knows nothing about
 * them, as it knows nothing about threads (thread.h). While one runs, vp_private.threaded is set.
 */
#ifndef MPI_SIDE_H
#define MPI_SIDE_H

#include "mpi/rank.h"
#include "run/own_call.h"

struct recorder_lane;

enum mpi_side_state {
    MPI_SIDE_IDLE,    /* it has nothing to do */
    MPI_SIDE_BLOCKED, /* in a call of the virtual MPI */
    MPI_SIDE_AWAITS,  /* what the process says of a call */
    MPI_SIDE_ENDED,
};

struct mpi_side {
    struct mpi_side *next;
    struct vp_side vp;
    unsigned number; /* of the thread */
    enum mpi_side_state state;
    vtime due;        /* blocked: when its decision is due */
    mpi_holds *holds; /* blocked: what it waits for; NULL: anything */
    const void *arg;
    const struct orrery_own_call *call; /* awaits: that call, or NULL */
    struct recorder_lane *lane;         /* for its records, or NULL */
};

/* The side that is running, or NULL. */
extern struct mpi_side *mpi_side_current;

/* In place of engine_block and vp_suspend. Returns when something may have happened. */
void mpi_side_block(vtime due, mpi_holds *, const void *arg);
/* When a wait for this ends (p2p/recv.c): 0 if that is not known, VTIME_NEVER if it goes on. */
vtime mpi_wait_end(struct mpi_rank *self, mpi_holds *, const void *arg);
/* In place of vp_suspend by a rank that has said what it waits for. */
void mpi_side_explained(void);

#endif
