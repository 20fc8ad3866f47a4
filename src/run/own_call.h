/*
 * own_call.h - a call of the real MPI that a process outside is in, for the simulator (run/own.h).
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

#endif
