/*
 * wrap.h - what the generated wrappers call (api/generate.py: mpi_wrappers.c). Each replaces a
 * function of MPI, calls the real one, and records the call.
 */
#ifndef NATIVE_WRAP_H
#define NATIVE_WRAP_H

#include <stdint.h>

#include "mpi_wrapped.h"

#define ORR_EXPORT __attribute__((visibility("default")))

/* On the stack of a wrapper. */
struct native_call {
    enum mpi_fn fn;
    const uint64_t *args; /* as the program passed them */
    const void *more;     /* the first argument without a name, if there is one */
    int64_t enter;
    uint64_t gone; /* the handle of an object that the call frees */
    /* Where the call writes statuses, even if the program ignores them. */
    const MPI_Status *statuses;
    MPI_Status own;
};

extern struct native_functions native_real;

/* Returns 0 if the call is not recorded: MPI itself makes it, or it is too early or too late. */
int native_enter(struct native_call *);
void native_leave(struct native_call *, int rc);

/* Where the real function writes its statuses, as the recorder needs them, too. */
MPI_Status *native_status(struct native_call *, MPI_Status *);
MPI_Status *native_statuses(struct native_call *, MPI_Status *);

#endif
