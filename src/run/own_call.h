/*
 * own_call.h - what run/own.h and the simulator share. First: a call of the real MPI that a process
 * outside is in.
 */
#ifndef RUN_OWN_CALL_H
#define RUN_OWN_CALL_H

#include <stdint.h>

struct orrery_own_call {
    int fn; /* enum mpi_fn */
    int count;
    const int *requests;
    int is_all;    /* it waits for all of them, otherwise for one */
    uint32_t comm; /* it receives there by itself; 0: it does not */
    int source, tag;
};

/* What a side of a rank does that has returned to it. */
enum orrery_own_side {
    ORRERY_OWN_SIDE_BLOCKED, /* in a call of the virtual MPI */
    ORRERY_OWN_SIDE_AWAITS,  /* by orrery_own_side_await */
    ORRERY_OWN_SIDE_ENDED,
};

/* How a rank waits for its process. */
enum orrery_own_pause {
    ORRERY_OWN_AWAY,      /* the process may send something at the rank's clock */
    ORRERY_OWN_LED,       /* it sends nothing before others have caused it */
    ORRERY_OWN_SEEMS_LED, /* it seems to send nothing before others have caused it */
    ORRERY_OWN_BUSY,      /* as SEEMS_LED, and what it has sent waits for the rank: returns 1 if
                           * nothing else can happen */
};

#endif
